// The one place that changes the address, and the user's preferences.  In a sandboxed
// frame the history and the storage may both refuse: then the page works without them.

import { formatState, parseState, type State } from "./state.ts";

export function readAddress(): State {
	return parseState(location.hash);
}

// `isStep`: the back button leads back to before it.
export function writeAddress(state: State, isStep: boolean): void {
	const hash = `#${formatState(state)}`;
	if (hash === (location.hash || "#")) return;
	try {
		if (isStep) history.pushState(null, "", hash);
		else history.replaceState(null, "", hash);
	} catch {
		location.hash = hash;
	}
}

const PREFIX = "heatline.";

export function readPreference(name: string): string {
	try {
		return localStorage.getItem(PREFIX + name) ?? "";
	} catch {
		return "";
	}
}

export function writePreference(name: string, value: string): void {
	try {
		localStorage.setItem(PREFIX + name, value);
	} catch {
		// Private windows and sandboxed frames have no storage.
	}
}
