import { copyText } from "@/ui/copy";
import type { Command } from "./command";

export const copyId: Command = {
	id: "copy-id",
	title: "command.copyId",
	available: ({ session }) => session !== undefined,
	run: ({ session }) => {
		if (session) void copyText(session.id);
	},
};
