// Asking a model about a hot place: what would be sent, sending it, trying the answer.
// The server builds the prompt, masks secrets in it and has the keys; this only asks for it.
// A standalone file has the prompts of its hottest lines and can send nothing.

import { readEvents } from "./events.ts";
import * as raw from "./raw.ts";

export const SCOPES = ["line", "loop", "function"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Place {
	readonly file: number; // index in the profile's files
	readonly path: string;
	readonly line: number;
	readonly scope: Scope;
}

export interface Prompt {
	readonly prompt: string;
	readonly system: string;
	readonly bytes: number;
	readonly masked: number; // secrets that were replaced
}

export interface Provider {
	readonly id: string;
	readonly name: string;
	readonly isReady: boolean;
	readonly needs: string; // what is missing
}

export interface Providers {
	readonly isAvailable: boolean;
	readonly note: string; // why not
	readonly list: readonly Provider[];
}

// What the model said, as far as it could be told apart.
export interface Answer {
	readonly diagnosis: string;
	readonly diff: string;
	readonly gain: string;
	readonly risks: string;
	readonly test: string;
	readonly note: string; // why the answer is not whole
}

export interface Step {
	readonly text: string;
	readonly done: number; // of `all`; 0 of 0: not known
	readonly all: number;
}

export interface Verdict {
	readonly sentence: string;
	readonly isFaster: boolean;
	readonly isUnclear: boolean; // no difference beyond noise
	readonly details: string; // the last lines of what failed
}

function readPrompt(value: unknown): Prompt {
	const record = raw.object(value);
	return {
		prompt: raw.text(record.prompt),
		system: raw.text(record.system),
		bytes: raw.number(record.bytes),
		masked: raw.number(record.masked),
	};
}

// The prompt as one text, to be given to a model by hand.
export function wholePrompt(prompt: Prompt): string {
	return `${prompt.system}\n\n${prompt.prompt}`;
}

let embedded: raw.Raw | undefined;

// The prompt that a standalone file has for a line.
export function embeddedPrompt(path: string, line: number): Prompt | undefined {
	if (!embedded) {
		const element = document.getElementById("heatline-prompts");
		try {
			embedded = raw.object(JSON.parse(element?.textContent || "{}"));
		} catch {
			embedded = {};
		}
	}
	const found = embedded[`${path}:${line}`];
	return found === undefined ? undefined : readPrompt(found);
}

async function ask(path: string, body?: object, signal?: AbortSignal): Promise<Response> {
	const response = await fetch(`api/suggest/${path}`, body === undefined ? { signal } : {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify(body),
		signal,
	});
	if (!response.ok) throw new Error(await refusal(response));
	return response;
}

// The server's own sentence, where it has one.
async function refusal(response: Response): Promise<string> {
	const text = (await response.text()).trim();
	const isSentence = text !== "" && text.length < 400 && !text.includes("<");
	if (!isSentence) return `The server answered ${response.status}.`;
	try {
		return raw.text(raw.object(JSON.parse(text)).error) || text;
	} catch {
		return text;
	}
}

export async function fetchProviders(): Promise<Providers> {
	const record = raw.object(await (await ask("providers")).json());
	return {
		isAvailable: raw.flag(record.available),
		note: raw.text(record.note),
		list: raw.list(record.providers).map(raw.object).map((one) => ({
			id: raw.text(one.id),
			name: raw.text(one.name),
			isReady: raw.flag(one.ready),
			needs: raw.text(one.needs),
		})),
	};
}

export async function fetchModels(provider: string, signal: AbortSignal): Promise<string[]> {
	const response = await ask(`models/${encodeURIComponent(provider)}`, undefined, signal);
	const record = raw.object(await response.json());
	const error = raw.text(record.error);
	if (error) throw new Error(error);
	return raw.texts(record.models);
}

const placeBody = (place: Place) => ({ profile: 0, file: place.file, path: place.path, line: place.line, scope: place.scope });

export async function fetchPrompt(place: Place, signal: AbortSignal): Promise<Prompt> {
	return readPrompt(await (await ask("prompt", placeBody(place), signal)).json());
}

// Follows a stream of events to its "done"; throws with the sentence of its "error".
async function follow(response: Response, take: (name: string, data: unknown) => void): Promise<unknown> {
	let done: unknown;
	let isDone = false;
	await readEvents(response, ({ name, data }) => {
		if (name === "error") throw new Error(sentenceOf(data));
		if (name === "done") {
			done = data;
			isDone = true;
		} else take(name, data);
	});
	if (!isDone) throw new Error("The answer broke off.");
	return done;
}

function sentenceOf(data: unknown): string {
	const record = raw.object(data);
	return raw.text(data) || raw.text(record.error) || raw.text(record.message) || raw.text(record.text) || "Something went wrong.";
}

export async function sendPrompt(
	place: Place, provider: string, model: string, signal: AbortSignal, take: (text: string) => void,
): Promise<Answer> {
	const response = await ask("send", { ...placeBody(place), provider, model }, signal);
	const record = raw.object(await follow(response, (_, data) => take(raw.text(data))));
	return {
		diagnosis: raw.text(record.diagnosis),
		diff: raw.text(record.diff),
		gain: raw.text(record.gain),
		risks: raw.text(record.risks),
		test: raw.text(record.test),
		note: raw.text(record.note),
	};
}

// Tries the change in a copy: compiles it, runs the test command, profiles both.
export async function verifyDiff(
	place: Place, diff: string, test: string, signal: AbortSignal, take: (step: Step) => void,
): Promise<Verdict> {
	const response = await ask("verify", { ...placeBody(place), diff, test }, signal);
	const record = raw.object(await follow(response, (_, data) => {
		const step = raw.object(data);
		take({ text: sentenceOf(data), done: raw.number(step.step), all: raw.number(step.steps) });
	}));
	const outcome = raw.text(record.outcome);
	return {
		sentence: raw.text(record.sentence),
		isFaster: outcome === "faster",
		isUnclear: outcome === "no clear difference",
		details: raw.text(record.details),
	};
}

// Changes the file; the server's sentence about it.
export async function applyDiff(place: Place, diff: string): Promise<string> {
	const response = await ask("apply", { ...placeBody(place), diff });
	return raw.text(raw.object(await response.json()).message) || "The change is in the file.";
}

export interface DiffLine {
	readonly kind: "add" | "remove" | "hunk" | "same";
	readonly text: string;
}

export function diffLines(diff: string): DiffLine[] {
	return diff.replace(/\n$/, "").split("\n").map((text) => {
		if (/^(@@|---|\+\+\+|diff |index )/.test(text)) return { kind: "hunk", text };
		return { kind: text.startsWith("+") ? "add" : text.startsWith("-") ? "remove" : "same", text };
	});
}
