import { type ReactNode, useId, useState } from "react";
import { useT } from "@/i18n/i18n";
import { prefixOf, type RuleKind, type RuleScope, ruleOf } from "@/state/rules";
import { Button } from "@/ui/button";
import { Untrusted } from "@/ui/untrusted";

/** What is to run without asking from now on: the rule stands there as it will be stored (FAIL-B18). */
export function Always({
	command,
	off,
	onAllow,
	onLeave,
}: {
	command: string;
	off: boolean;
	/** Gives why it could not be stored. */
	onAllow(rule: string, scope: RuleScope): Promise<string | undefined>;
	onLeave(): void;
}) {
	const t = useT();
	const id = useId();
	const offered = prefixOf(command);
	const [kind, setKind] = useState<RuleKind>("exact");
	const [prefix, setPrefix] = useState(offered ?? "");
	const [scope, setScope] = useState<RuleScope>("session");
	const [state, setState] = useState<{ sending: boolean; problem?: string }>({ sending: false });
	const rule = ruleOf(kind, kind === "exact" ? command : prefix);
	const allow = async () => {
		setState({ sending: true });
		const problem = await onAllow(rule, scope);
		setState({ sending: false, ...(problem === undefined ? {} : { problem }) });
	};
	return (
		<div className="border-line bg-raised space-y-2.5 rounded-lg border px-3 py-2.5 text-[13px]">
			<fieldset className="space-y-1">
				<legend className="text-soft mb-1 text-xs">{t("approval.always.what")}</legend>
				<Option name={`${id}k`} on={kind === "exact"} onChoose={() => setKind("exact")}>
					{t("approval.always.exact")}
				</Option>
				{offered !== undefined && (
					<Option name={`${id}k`} on={kind === "prefix"} onChoose={() => setKind("prefix")}>
						{t("approval.always.prefix")}
					</Option>
				)}
				{kind === "prefix" && (
					<input
						aria-label={t("approval.always.prefix")}
						value={prefix}
						onChange={(event) => setPrefix(event.target.value)}
						className="border-edge bg-raised ml-6 h-8 w-64 max-w-[calc(100%-1.5rem)] rounded-lg border px-2 font-mono text-[13px]"
					/>
				)}
			</fieldset>
			<fieldset className="space-y-1">
				<legend className="text-soft mb-1 text-xs">{t("approval.always.where")}</legend>
				<Option name={`${id}s`} on={scope === "session"} onChoose={() => setScope("session")}>
					{t("approval.always.session")}
				</Option>
				<Option name={`${id}s`} on={scope === "global"} onChoose={() => setScope("global")}>
					{t("approval.always.global")}
				</Option>
			</fieldset>
			<p>
				<span className="text-soft text-xs">{t("approval.always.rule")}</span>
				<code
					data-testid="always-rule"
					className="bg-sunken mt-0.5 block rounded px-2 py-1 font-mono text-xs break-words whitespace-pre-wrap"
				>
					<Untrusted text={rule} />
				</code>
			</p>
			<div className="flex flex-wrap items-center gap-2">
				<Button
					small
					tone="accent"
					data-testid="always-allow"
					disabled={off || state.sending || (kind === "prefix" && prefix.trim() === "")}
					onClick={() => void allow()}
				>
					{t("approval.always.allow")}
				</Button>
				<Button small tone="quiet" onClick={onLeave}>
					{t("common.cancel")}
				</Button>
				<span role="status" className="text-bad">
					{state.problem}
				</span>
			</div>
		</div>
	);
}

function Option({
	name,
	on,
	onChoose,
	children,
}: {
	name: string;
	on: boolean;
	onChoose(): void;
	children: ReactNode;
}) {
	return (
		<label className="flex items-center gap-2">
			<input type="radio" name={name} checked={on} onChange={onChoose} />
			{children}
		</label>
	);
}
