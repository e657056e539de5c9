import { CodeBlock } from "./code-block";
import { plainParts } from "./plain-parts";

/** A text before the parser of Markdown is here: as it was written, laid out as it will be. */
export function Plain({ text }: { text: string }) {
	return (
		<div className="prose" data-plain>
			{plainParts(text).map((part, at) =>
				"code" in part ? (
					// biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place.
					<CodeBlock key={at} code={part.code} language={part.language} open />
				) : (
					// biome-ignore lint/suspicious/noArrayIndexKey: as above.
					<div key={at} className="block">
						<p className="whitespace-pre-wrap">{part.text}</p>
					</div>
				),
			)}
		</div>
	);
}
