import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useNow } from "./hooks";

beforeEach(() => {
	vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
	vi.restoreAllMocks();
	vi.useRealTimers();
});

const see = (state: "visible" | "hidden") =>
	act(() => {
		vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
		document.dispatchEvent(new Event("visibilitychange"));
	});

test("the time runs while it is seen, and no timer waits while it is not", () => {
	const { result, unmount } = renderHook(() => useNow(1000));
	act(() => vi.advanceTimersByTime(2000));
	expect(result.current).toBe(2000);
	see("hidden");
	expect(vi.getTimerCount()).toBe(0);
	vi.advanceTimersByTime(60_000);
	expect(result.current).toBe(2000);
	see("visible");
	expect(result.current).toBe(62_000);
	expect(vi.getTimerCount()).toBe(1);
	unmount();
	expect(vi.getTimerCount()).toBe(0);
});

test("a time that is not wanted does not run", () => {
	const { result } = renderHook(() => useNow(0));
	act(() => vi.advanceTimersByTime(5000));
	expect(result.current).toBe(0);
	expect(vi.getTimerCount()).toBe(0);
});
