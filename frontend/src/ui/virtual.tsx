import {
	type ComponentProps,
	createContext,
	Fragment,
	type ReactElement,
	type ReactNode,
	type Ref,
	useContext,
} from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";

export type { VirtualizerHandle } from "virtua";

/** Off where nothing has a size (component tests): every row is drawn. */
export const VirtualContext = createContext(true);

interface VirtualRowsProps<T> {
	ref?: Ref<VirtualizerHandle>;
	data: readonly T[];
	children(row: T, at: number): ReactElement;
	scrollRef: ComponentProps<typeof Virtualizer>["scrollRef"];
	/** Rows were put in before the others in this very render. */
	shift?: boolean;
	itemSize?: number;
	item?: ComponentProps<typeof Virtualizer>["item"];
	onScroll?(offset: number): void;
}

/** Draws the rows that can be seen, and a few around them. */
export function VirtualRows<T>({
	ref,
	data,
	children,
	scrollRef,
	shift = false,
	itemSize,
	item,
	onScroll,
}: VirtualRowsProps<T>): ReactNode {
	const virtual = useContext(VirtualContext);
	if (!virtual) {
		return data.map((row, at) => {
			const element = children(row, at);
			return <Fragment key={element.key}>{element}</Fragment>;
		});
	}
	return (
		<Virtualizer
			{...(ref === undefined ? {} : { ref })}
			{...(scrollRef === undefined ? {} : { scrollRef })}
			{...(itemSize === undefined ? {} : { itemSize })}
			{...(item === undefined ? {} : { item })}
			{...(onScroll === undefined ? {} : { onScroll })}
			data={data}
			shift={shift}
			bufferSize={400}
		>
			{children}
		</Virtualizer>
	);
}
