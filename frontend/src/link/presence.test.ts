import { describe, expect, test, vi } from "vitest";
import { FakeServer } from "@/test/fake-server";
import { client, stillTime } from "@/test/harness";
import { PresenceReporter, watchPresence } from "./presence";

const MINUTE = 60_000;

stillTime();

function reporter() {
	const reports: boolean[] = [];
	const page = { visible: true };
	return {
		reports,
		page,
		presence: new PresenceReporter(
			(active) => reports.push(active),
			() => page.visible,
		),
	};
}

describe("presence", () => {
	test("SP-PRES-10 active is a visible page with activity just now", () => {
		const { reports, page, presence } = reporter();
		presence.connected();
		expect(reports).toEqual([]);
		page.visible = false;
		presence.activity();
		expect(reports).toEqual([]);
		page.visible = true;
		presence.visibility();
		expect(reports).toEqual([]);
		presence.activity();
		expect(reports).toEqual([true]);
	});

	test("SP-PRES-11 activity repeats it at most once a minute", () => {
		const { reports, presence } = reporter();
		for (let second = 0; second < 180; second++) {
			presence.activity();
			vi.advanceTimersByTime(1000);
		}
		expect(reports).toEqual([true, true, true]);
	});

	test("SP-PRES-12 inactive when the page goes to the background", () => {
		const { reports, page, presence } = reporter();
		presence.activity();
		page.visible = false;
		presence.visibility();
		expect(reports).toEqual([true, false]);
	});

	test("SP-PRES-12 inactive when the last activity is 10 minutes old", () => {
		const { reports, presence } = reporter();
		presence.activity();
		vi.advanceTimersByTime(30_000);
		presence.activity();
		vi.advanceTimersByTime(10 * MINUTE - 1);
		expect(reports).toEqual([true]);
		vi.advanceTimersByTime(1);
		expect(reports).toEqual([true, false]);
		vi.advanceTimersByTime(60 * MINUTE);
		expect(reports).toEqual([true, false]);
	});

	test("a new connection is told anew, unless nobody was there", () => {
		const { reports, presence } = reporter();
		presence.activity();
		presence.connected();
		expect(reports).toEqual([true, true]);
		vi.advanceTimersByTime(10 * MINUTE);
		presence.connected();
		expect(reports).toEqual([true, true, false]);
	});

	test("SP-PRES-10 pointer and keyboard of the page reach the server", async () => {
		const server = new FakeServer();
		const { link, transport } = client(server);
		const stop = watchPresence(link);
		link.start();
		await vi.advanceTimersByTimeAsync(1);
		expect(server.requestsOf("presence/update")).toEqual([]);
		window.dispatchEvent(new Event("pointermove"));
		window.dispatchEvent(new Event("keydown"));
		await vi.advanceTimersByTimeAsync(1);
		expect(server.requestsOf("presence/update")).toEqual([{ active: true }]);
		transport.cut();
		await vi.advanceTimersByTimeAsync(400);
		expect(server.requestsOf("presence/update")).toEqual([{ active: true }, { active: true }]);
		stop();
	});
});
