package session

import "context"

// places gives the service of the owner's folders.
func (c *Conn) places() (Places, error) {
	if p := c.server.current().Places; p != nil {
		return p, nil
	}
	return nil, absent("wire.service-places")
}

func (c *Conn) placesList(ctx context.Context, _ Empty) (PlacesListResult, error) {
	p, err := c.places()
	if err != nil {
		return PlacesListResult{}, err
	}
	all, err := p.List(ctx, c.server.o.Language())
	return PlacesListResult{Places: all}, err
}

func (c *Conn) placesFiles(ctx context.Context, params PlacesFilesParams) (PlacesFilesResult, error) {
	p, err := c.places()
	if err != nil {
		return PlacesFilesResult{}, err
	}
	files, err := p.Files(ctx, params.SessionID, params.Place, params.Query)
	if files == nil {
		files = []string{}
	}
	return PlacesFilesResult{Files: files}, err
}

func (c *Conn) placeAdd(ctx context.Context, params PlaceAddParams) (PlaceAddResult, error) {
	p, err := c.places()
	if err != nil {
		return PlaceAddResult{}, err
	}
	added, err := p.Add(ctx, params.Path, params.Name)
	return PlaceAddResult{Place: added}, err
}

func (c *Conn) placeRemove(ctx context.Context, params PlaceRemoveParams) (Empty, error) {
	p, err := c.places()
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, p.Remove(ctx, params.Key)
}
