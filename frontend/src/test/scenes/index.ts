import { FakeServer } from "../fake-server";
import { agent, turn } from "../items";
import { long, streaming, waiting } from "./busy";
import { furnished, rooms } from "./furnish";
import { manySettings, settings } from "./settings";
import type { Scene } from "./story";
import { background, places, rewind } from "./work";

export { FakeError } from "../fake-server";

const plain =
	(path: string) =>
	(now: number): Scene => ({ server: furnished(now), path });

/** Replies a word at a time to what is sent, so that a person can play with a scene. */
export function enliven(server: FakeServer): void {
	server.onSend = (sessionId, content) => {
		const turnId = server.id("t");
		const itemId = server.id("a");
		const begun = Date.now();
		const words =
			`You said: *${content}*. This server only pretends, so there is nothing more to it.`.split(
				/(?<= )/,
			);
		server.start(sessionId, turn({ itemId: turnId, turnId, at: begun }));
		server.change(sessionId, { running: true });
		server.start(sessionId, agent({ itemId, turnId, at: begun }));
		const timer = setInterval(() => {
			const word = words.shift();
			if (word !== undefined) {
				server.delta(sessionId, itemId, word);
				return;
			}
			clearInterval(timer);
			const whole = server.need(sessionId).items.find((item) => item.itemId === itemId);
			if (whole) server.complete(sessionId, whole);
			server.complete(
				sessionId,
				turn({ itemId: turnId, turnId, at: begun, outcome: "replied", endedAt: Date.now() }),
			);
			server.change(sessionId, { running: false, updatedAt: Date.now(), lastReplyAt: Date.now() });
		}, 60);
	};
}

export const scenes: Record<string, (now: number) => Scene> = {
	first: () => ({ server: new FakeServer(), path: "/" }),
	start: plain("/#/new"),
	conversation: plain("/#/s/main"),
	list: plain("/"),
	rooms,
	settings,
	manySettings,
	background,
	rewind,
	places,
	waiting,
	streaming,
	long: long(),
	rich: long(true),
	child: plain("/#/s/child"),
	gone: plain("/#/s/nobody"),
	off: (now) => {
		const scene = plain("/#/s/news")(now);
		scene.server.features = { send: false, rewind: false, compress: false, settings: false };
		return scene;
	},
};
