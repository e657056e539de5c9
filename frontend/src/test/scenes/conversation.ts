import type { SessionItem } from "@/contract/session.gen";
import { byOwner, DAY, MINUTE, Story } from "./story";

const REPLY = `I looked at the three files. Here is what I found:

1. **\`loop.go\`** holds the only writer; everything else reads.
2. **\`cursor.go\`** follows the log and never keeps a copy.
3. \`store.go\` is where a full disk shows up *first*.

| file | lines | tests |
|---|---:|---:|
| loop.go | 312 | 41 |
| cursor.go | 188 | 17 |

The part that matters is this:

\`\`\`go
// Do runs a command to its end and tells the caller what became of it.
func (l *Loop) Do(ctx context.Context, c Command) (Result, error) {
	select {
	case l.inbox <- envelope{c, reply}:
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	return (<-reply).unpack() // never cancelled once taken
}
\`\`\`

- [x] read the log
- [ ] check the crash test

> A half-known write is worse than a late answer.

More in [the guide](https://example.org/guide), which is short.`;

const README = `# Aalis

An assistant that lives on your computer and keep everything in one log.

Run it:
`;
const BETTER_README = `# Aalis

An assistant that lives on your computer and keeps everything in one log.

## Run it
`;

const model = (promptTokens: number, completionTokens: number) => ({
	model: { provider: "local", model: "qwen3:8b", promptTokens, completionTokens },
});

/** Every kind of item, in every way it ends. */
export function conversation(now: number): SessionItem[] {
	const cwd = "/home/ann/aalis";
	const began = now - 12 * MINUTE;
	return new Story()
		.ask(now - 2 * DAY, "Where does a message go when I press Enter?", {
			outcome: "replied",
			took: 9_000,
		})
		.reply(
			2_000,
			"Into the log first. Only then does anybody see it, you included.",
			model(1240, 31),
		)
		.ask(began, "Read the core package and tell me what is in it.\nAlso tidy up the README.", {
			outcome: "replied",
			took: 3 * MINUTE,
		})
		.think(
			500,
			"The person wants an overview first.\nI start with the files that everything else depends on.",
		)
		.run(2_000, "wc -l backend/core/*.go", {
			cwd,
			exitCode: 0,
			status: "completed",
			durationMs: 1_240,
			output:
				" 312 backend/core/loop.go\n 188 backend/core/cursor.go\n \u001b[1m500\u001b[0m total\n",
		})
		.run(MINUTE, "go test ./backend/core", {
			cwd,
			exitCode: 1,
			status: "failed",
			durationMs: 14_900,
			output:
				"\u001b[31m--- FAIL: TestLoop/full_disk\u001b[0m (0.02s)\n    loop_test.go:88: want \u001b[32m13\u001b[0m, got \u001b[31m0\u001b[0m\n\u001b[1mFAIL\u001b[0m\taalis/backend/core\t0.412s\n",
			settlement: byOwner("approved", began + MINUTE),
			approvalId: "ap-old",
		})
		.call(2 * MINUTE, "edit", {
			args: { path: "README.md" },
			status: "completed",
			durationMs: 80,
			display: { kind: "file-change", path: "README.md", removed: README, added: BETTER_README },
		})
		.call(2 * MINUTE + 500, "find_files", {
			args: { pattern: "**/*.md", root: "docs" },
			status: "completed",
			result: '{"files":["docs/guide.md","docs/faq.md"]}',
		})
		.run(2 * MINUTE + 800, "rm -rf build", {
			status: "denied",
			approvalId: "ap-den",
			settlement: byOwner("denied", began + 2 * MINUTE),
		})
		.call(2 * MINUTE + 900, "http_get", {
			args: { url: "https://example.org" },
			status: "denied",
			approvalId: "ap-abs",
			settlement: { state: "denied", source: "absent", at: began + 2 * MINUTE },
		})
		.call(2 * MINUTE + 950, "read", {
			args: { path: "/etc/hosts" },
			status: "failed",
			notExecuted: true,
		})
		.note(2.5 * MINUTE, "background-task", {
			text: "model text",
			noticeId: "task-1",
			facts: {
				taskId: "task-1",
				tool: "exec",
				status: "completed",
				durationMs: 74_000,
				lastLine: "ok  aalis/backend/store 12.1s",
			},
		})
		.reply(3 * MINUTE, REPLY, model(18_240, 512))
		.ask(now - 6 * MINUTE, "Go on with the rest, all of it.", { outcome: "aborted", took: MINUTE })
		.join(0.5 * MINUTE, "…but leave the vendor folder alone")
		.run(0.6 * MINUTE, "make all", { status: "aborted", output: "cc -c a.c\ncc -c b.c\n" })
		.ask(now - 4 * MINUTE, "And now?", {
			outcome: "error",
			reason: "The model's server answered 503 three times in a row.",
			took: MINUTE,
		})
		.ask(now - 2 * MINUTE, "Try once more.", { outcome: "replied", took: MINUTE })
		.reply(0.5 * MINUTE, "That used up the tool calls I have for one turn. The rest is prepared.")
		.note(MINUTE, "tool-limit", {
			text: "Reached the limit of 30 tool rounds.",
			canContinue: true,
		}).items;
}
