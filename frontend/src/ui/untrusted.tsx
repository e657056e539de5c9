import { Fragment, useMemo } from "react";
import { piecesForCard } from "./sanitize";

/** Text that somebody else wrote and a person relies on: shown whole, with what it hides made visible. */
export function Untrusted({ text }: { text: string }) {
	const pieces = useMemo(() => piecesForCard(text), [text]);
	return (
		<bdi dir="ltr">
			{pieces.map((piece, at) =>
				piece.escape ? (
					// biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity but their place.
					<mark key={at} className="escape">
						{piece.text}
					</mark>
				) : (
					// biome-ignore lint/suspicious/noArrayIndexKey: as above.
					<Fragment key={at}>{piece.text}</Fragment>
				),
			)}
		</bdi>
	);
}
