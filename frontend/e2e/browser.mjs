import { chromium } from "playwright-core";

/** The system's Chromium, quiet and without a network of its own. */
export const options = {
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	headless: true,
	args: [
		"--no-sandbox",
		"--disable-gpu",
		"--disable-quic",
		"--no-first-run",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-sync",
	],
};

export const launch = () => chromium.launch(options);
