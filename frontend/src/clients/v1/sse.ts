/** One frame of server-sent events. `id` is absent when the frame has none. */
export interface Frame {
	event: string;
	data: string;
	id?: string;
}

/**
 * Reads the text of a stream of server-sent events piece by piece, wherever it is cut, and gives the
 * frames that are complete. A frame that the end cuts off is never given.
 */
export class FrameReader {
	#rest = "";
	#event = "";
	#data: string[] = [];
	#id: string | undefined;

	/** Takes the next piece and gives the frames that it completes. */
	push(piece: string): Frame[] {
		const text = this.#rest + piece;
		const frames: Frame[] = [];
		let from = 0;
		for (let i = 0; i < text.length; i++) {
			const c = text[i];
			if (c !== "\n" && c !== "\r") continue;
			// A CR at the very end may be half of CR LF.
			if (c === "\r" && i + 1 === text.length) break;
			const frame = this.#line(text.slice(from, i));
			if (frame) frames.push(frame);
			if (c === "\r" && text[i + 1] === "\n") i++;
			from = i + 1;
		}
		this.#rest = text.slice(from);
		return frames;
	}

	#line(line: string): Frame | undefined {
		if (line === "") return this.#end();
		const colon = line.indexOf(":");
		if (colon === 0) return undefined; // a comment
		const name = colon < 0 ? line : line.slice(0, colon);
		const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
		if (name === "event") this.#event = value;
		else if (name === "data") this.#data.push(value);
		else if (name === "id" && !value.includes("\0")) this.#id = value;
		return undefined;
	}

	#end(): Frame | undefined {
		const frame: Frame = { event: this.#event || "message", data: this.#data.join("\n") };
		if (this.#id !== undefined) frame.id = this.#id;
		const empty = this.#data.length === 0;
		this.#event = "";
		this.#data = [];
		this.#id = undefined;
		return empty ? undefined : frame;
	}
}
