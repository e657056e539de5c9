/**
 * Signing a tab in. The code comes in the address's fragment, which no server, log or Referer sees;
 * it is posted once and taken out of the history at once. A bearer lives in this page's memory only.
 */
let bearerToken: string | undefined;

export const bearer = (): string | undefined => bearerToken;

/** Forgets a bearer that the server no longer takes. */
export const forgetBearer = (): void => {
	bearerToken = undefined;
};

export type SignInResult = "signed-in" | "refused" | "unreachable";

/** True on the page that a one-time address opens. */
export const isSignInPage = (at: Location = location): boolean => at.pathname === "/signin";

/** The address of the session that a query names. */
function placeOf(at: Location): string | undefined {
	const session = new URLSearchParams(at.search).get("session");
	return session ? `/#/s/${encodeURIComponent(session)}` : undefined;
}

/** Goes to the session that the address names as `?session=ID`, as addresses of programs do. */
export function goToAskedSession(at: Location = location): void {
	const place = placeOf(at);
	if (place !== undefined) history.replaceState(null, "", place);
}

/**
 * Exchanges the code in the address for a cookie or a bearer. Whatever happens, the code is gone from
 * the address and the history afterwards: it is worth nothing a second time.
 */
export async function signIn(at: Location = location): Promise<SignInResult> {
	const code = at.hash.replace(/^#/, "");
	history.replaceState(null, "", placeOf(at) ?? "/");
	if (code === "") return "refused";
	try {
		const response = await fetch("/signin", {
			method: "POST",
			headers: { "Content-Type": "application/json" },
			body: JSON.stringify({ code }),
			signal: AbortSignal.timeout(10_000),
		});
		if (!response.ok) return response.status >= 500 ? "unreachable" : "refused";
		const answer: unknown = await response.json();
		if (typeof answer === "object" && answer !== null && "token" in answer) {
			if (typeof answer.token === "string") bearerToken = answer.token;
		}
		return "signed-in";
	} catch {
		return "unreachable";
	}
}

/**
 * Asks whether the socket would be let in, because a browser hides the status of a refused upgrade.
 * Throws when nobody answers.
 */
export async function isSignedIn(): Promise<boolean> {
	const response = await fetch("/auth", {
		headers: bearerToken ? { Authorization: `Bearer ${bearerToken}` } : {},
		cache: "no-store",
		signal: AbortSignal.timeout(10_000),
	});
	if (response.status === 401 || response.status === 403) return false;
	if (!response.ok) throw new Error(`/auth answered ${response.status}`);
	return true;
}
