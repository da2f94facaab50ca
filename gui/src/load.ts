// Where the profiles come from: elements of a standalone page, else the server.

import { readProfile, type Profile } from "./model.ts";
import * as raw from "./raw.ts";

export interface Server {
	readonly version: string;
	readonly isLive: boolean;
	readonly canOpenEditor: boolean;
}

export interface Loaded {
	readonly profile: Profile;
	readonly baseline: Profile | undefined;
	readonly server: Server | undefined; // undefined: a file, which makes no request
}

export async function load(): Promise<Loaded> {
	const embedded = readEmbedded(0);
	if (embedded) return { profile: embedded, baseline: readEmbedded(1), server: undefined };
	const info = raw.object(await getJson("api/info"));
	const [profile, baseline] = await Promise.all([
		getJson("api/profile/0").then(readProfile),
		raw.number(info.profiles) > 1 ? getJson("api/profile/1").then(readProfile) : undefined,
	]);
	const server: Server = {
		version: raw.text(info.version),
		isLive: raw.flag(info.is_live),
		canOpenEditor: raw.flag(info.can_open_editor),
	};
	return { profile, baseline, server };
}

function readEmbedded(index: number): Profile | undefined {
	const element = document.getElementById(`heatline-profile-${index}`);
	return element ? readText(element.textContent ?? "") : undefined;
}

export function readText(json: string): Profile {
	let value: unknown;
	try {
		value = JSON.parse(json);
	} catch {
		throw new Error("This is not a profile: it is not JSON, or only a part of it.");
	}
	return readProfile(value);
}

async function getJson(path: string): Promise<unknown> {
	const response = await fetch(path);
	if (!response.ok) throw new Error(`The server answered ${response.status} for ${path}.`);
	return response.json();
}

// The whole text of a file that the profile has only parts of.
export async function fetchSource(file: number, path: string): Promise<string | undefined> {
	const response = await fetch(`api/source/0/${file}?path=${encodeURIComponent(path)}`);
	return response.ok ? response.text() : undefined;
}

// Opens the user's editor.  False when the server could not.
export async function openEditor(file: number, path: string, line: number): Promise<boolean> {
	const response = await fetch("api/open", {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ profile: 0, file, path, line }),
	});
	return response.ok;
}

export type Connection = "live" | "not connected" | "the program has ended";

// Calls back with a new profile each time that the running program has one.  The last
// one says by itself that it is whole: the server may be gone before it can tell.
export function followLive(
	changed: (profile: Profile) => void, connected: (connection: Connection) => void,
): () => void {
	const events = new EventSource("api/live");
	const end = () => {
		connected("the program has ended");
		events.close();
	};
	events.addEventListener("profile", (event) => {
		const profile = readText(String((event as MessageEvent).data));
		connected("live");
		changed(profile);
		if (!profile.isPartial) end();
	});
	events.addEventListener("error", () => connected("not connected"));
	events.addEventListener("end", end);
	return () => events.close();
}

export const EXPORTS: readonly (readonly [string, string])[] = [
	["speedscope", "speedscope"],
	["pprof", "pprof"],
	["collapsed", "Collapsed stacks"],
	["svg", "SVG flame graph"],
	["gecko", "Firefox Profiler"],
	["chrome", "Chrome and Perfetto trace"],
	["pstats", "pstats"],
	["csv", "CSV"],
	["markdown", "Markdown"],
];
