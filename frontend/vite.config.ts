import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
	// Relative addresses: the same files are served from wails://wails/ and from http://…/.
	base: "./",
	plugins: [react(), tailwindcss()],
	resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
	build: {
		// WebKitGTK 2.50 and Chromium run one build.
		target: "safari16",
		modulePreload: { polyfill: false },
		// The content security policy allows no data: addresses.
		assetsInlineLimit: 0,
		chunkSizeWarningLimit: 900,
	},
	test: {
		environment: "happy-dom",
		include: ["src/**/*.test.{ts,tsx}"],
		setupFiles: ["src/test/setup.ts"],
		restoreMocks: true,
		unstubGlobals: true,
	},
});
