import * as z from "zod/mini";
import { LinkError } from "./errors";

/** What the host offers for a setting, and why that may not be all. */
interface Offered {
	options: { value: string; label: string; description?: string }[];
	problems: string[];
}

/**
 * Asks the host for the options of a source. `dependency` is the value that the choice depends on, a
 * model as its entry id (SP-CONF-34, SP-CONF-36).
 */
export type Options = (service: string, dependency: string | undefined) => Promise<Offered>;

const TIMEOUT_MS = 30_000;

const answer = z.object({
	models: z.array(z.string()),
	details: z.optional(
		z.array(
			z.object({ value: z.string(), label: z.string(), description: z.optional(z.string()) }),
		),
	),
	problems: z.optional(z.array(z.string())),
});

function read(text: string): Offered {
	const parsed = answer.safeParse(parse(text));
	if (!parsed.success) throw new LinkError("unreadable", "the options are not in the contract");
	const { models, details = [], problems = [] } = parsed.data;
	const described = new Map(details.map((detail) => [detail.value, detail]));
	const options = models.map((value) => {
		const { label = value, description } = described.get(value) ?? {};
		return { value, label, ...(description ? { description } : {}) };
	});
	return { options, problems };
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** A tab asks beside its page, by cookie or, when given, by bearer. */
export const tabOptions =
	(bearer: () => string | undefined): Options =>
	async (service, dependency) => {
		const query = dependency === undefined ? "" : `?dependency=${encodeURIComponent(dependency)}`;
		const token = bearer();
		const response = await fetch(`/api/models/${encodeURIComponent(service)}${query}`, {
			headers: token ? { Authorization: `Bearer ${token}` } : {},
			cache: "no-store",
			signal: AbortSignal.timeout(TIMEOUT_MS),
		}).catch(() => {
			throw new LinkError("lost", "no answer about options");
		});
		if (!response.ok) throw new LinkError("unreadable", `options: ${response.status}`);
		return read(await response.text());
	};

/** The desktop window asks through its binding. */
export const windowOptions: Options = async (service, dependency) => {
	const bridge = window.go?.app?.Bridge;
	if (!bridge?.Options) throw new LinkError("unreadable", "the window offers no options");
	return read(await bridge.Options(service, dependency ?? ""));
};
