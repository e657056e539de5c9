import { ChevronRight } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { useStore } from "zustand";
import type { ConfigLayersResult, SessionSummary } from "@/contract/session.gen";
import { useT } from "@/i18n/i18n";
import { useApp } from "@/state/context";
import { placeKey, rowKey, type SettingsPlace } from "@/state/edits";
import type { SettingsPage as PageRead } from "@/state/settings";
import { Button } from "@/ui/button";
import { optionsQuery } from "./fields";
import { Find } from "./find";
import { usePage } from "./hooks";
import { layersOfSession } from "./layers";
import { Row, type RowProps, type SettingsAt } from "./row";
import { findRows, type Section, sectionsOf, withEdited } from "./rows";

/** So many rows are seen at a glance. */
const FEW = 9;

interface PageProps {
	place: SettingsPlace;
	focus: string | undefined;
	title: string;
	summary: SessionSummary | undefined;
	layers: ConfigLayersResult | undefined;
	onGo(at: SettingsAt): void;
}

/** The settings of one place: what is on its way, could not be had, is empty, or is there. */
export function SettingsPage(props: PageProps) {
	const t = useT();
	const { read, retry } = usePage(props.place);
	return (
		<section
			aria-label={props.title}
			data-testid="settings-page"
			className="flex min-h-0 min-w-0 flex-1 flex-col"
		>
			<h3
				className="sr-only truncate px-5 pt-4 pb-2 text-[15px] font-semibold min-[900px]:not-sr-only min-[900px]:px-5 min-[900px]:pt-4 min-[900px]:pb-2"
				title={props.title}
			>
				{props.title}
			</h3>
			{read?.value ? (
				<>
					{read.phase === "failed" && (
						<p role="alert" className="text-bad px-5 pb-2 text-sm">
							{t("settings.stale", { reason: read.error ?? "" })}{" "}
							<button type="button" className="underline underline-offset-2" onClick={retry}>
								{t("common.retry")}
							</button>
						</p>
					)}
					<Rows {...props} page={read.value} />
				</>
			) : read?.phase === "failed" ? (
				<div role="alert" className="px-5 py-6 text-center">
					<p className="font-medium">{t("settings.failed")}</p>
					<p className="text-soft mt-1 text-sm break-words">{read.error}</p>
					<Button className="mt-4" onClick={retry}>
						{t("common.retry")}
					</Button>
				</div>
			) : (
				<Skeleton />
			)}
		</section>
	);
}

function Rows({ page, ...props }: PageProps & { page: PageRead }) {
	const t = useT();
	const { settings } = useApp();
	const { place, focus, summary, layers, onGo } = props;
	const [query, setQuery] = useState("");
	const edits = useStore(settings.edits);
	const rows = withEdited(page.items, edits, placeKey(place));
	const found = useMemo(() => findRows(rows, query), [rows, query]);
	const sections = useMemo(() => sectionsOf(found), [found]);
	const moves = useMemo(
		() => ("session" in place && layers ? layersOfSession(summary, page.platform, layers) : []),
		[place, summary, page.platform, layers],
	);
	const listed = useMemo(() => new Set(page.items.map(rowKey)), [page.items]);
	const draw = (row: RowProps["row"]) => {
		const key = rowKey(row);
		const { service, dependency } = optionsQuery(row, page.items) ?? {};
		return (
			<Row
				key={key}
				row={row}
				place={place}
				platform={page.platform}
				placeName={summary?.place?.name}
				layers={layers}
				moves={moves}
				service={service}
				dependency={dependency}
				offered={listed.has(key)}
				focused={key === focus}
				onGo={onGo}
			/>
		);
	};
	const first = sections.find(({ plugin }) => plugin === undefined);
	const advanced = sections.filter(({ plugin }) => plugin !== undefined);
	const many = advanced.reduce((sum, section) => sum + section.rows.length, 0) > FEW;
	return (
		<>
			{rows.length > FEW && (
				<div className="mx-5 mt-3 mb-2 min-[900px]:mt-0">
					<Find
						testId="settings-find"
						label={t("settings.find")}
						clear={t("settings.find.clear")}
						value={query}
						onChange={setQuery}
					/>
				</div>
			)}
			<div className="min-h-0 flex-1 overflow-y-auto px-5 pb-6" data-testid="settings-rows">
				{rows.length === 0 && (
					<p className="text-soft py-6 text-center text-sm">{t("settings.empty")}</p>
				)}
				{rows.length > 0 && found.length === 0 && (
					<p className="text-soft py-6 text-center text-sm">
						{t("settings.find.none", { query: query.trim() })}
					</p>
				)}
				{first?.rows.map(draw)}
				{advanced.length > 0 && (
					<h4 className="text-soft mt-5 mb-1 text-xs font-semibold tracking-wide">
						{t("settings.advanced")}
					</h4>
				)}
				{advanced.map((section) => (
					<Plugin
						// A search opens what it finds, and folds it again when it ends.
						key={`${section.plugin} ${query !== ""}`}
						section={section}
						open={!many || query !== "" || section.rows.some((row) => rowKey(row) === focus)}
					>
						{section.rows.map(draw)}
					</Plugin>
				))}
			</div>
		</>
	);
}

function Plugin({
	section,
	open: initially,
	children,
}: {
	section: Section;
	open: boolean;
	children: ReactNode;
}) {
	const t = useT();
	const [open, setOpen] = useState(initially);
	return (
		<section aria-label={section.plugin}>
			<button
				type="button"
				aria-expanded={open}
				data-testid="settings-plugin"
				onClick={() => setOpen(!open)}
				className="hover:bg-hover -mx-2 flex w-[calc(100%+1rem)] items-center gap-2 rounded-lg px-2 py-1.5 text-left text-sm"
			>
				<ChevronRight
					size={14}
					aria-hidden
					className={`text-soft shrink-0 transition-transform ${open ? "rotate-90" : ""}`}
				/>
				<span className="min-w-0 flex-1 truncate font-medium">{section.plugin}</span>
				<span className="text-soft text-xs">
					{t("settings.advanced.count", { count: section.rows.length })}
				</span>
			</button>
			{open && <div className="pl-1">{children}</div>}
		</section>
	);
}

function Skeleton() {
	const t = useT();
	return (
		<div role="status" data-testid="settings-loading" className="px-5 py-3">
			<span className="sr-only">{t("common.loading")}</span>
			<div aria-hidden className="space-y-7">
				{[0, 1, 2, 3].map((n) => (
					<div key={n} className="flex items-center justify-between gap-10">
						<div className="bg-hover h-4 w-2/5 rounded" />
						<div className="bg-hover h-9 w-2/5 rounded-lg" />
					</div>
				))}
			</div>
		</div>
	);
}
