// “Suggest an optimisation”: shows exactly what will be sent and to whom, sends it when
// asked to, and shows what came back.  Nothing leaves the page before “Send”.

import { useEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../clipboard.ts";
import { functionOf, placeOf, sourceLine, useApp, type App } from "../context.ts";
import { count, megabytes } from "../format.ts";
import type { Line } from "../model.ts";
import { readPreference, writePreference } from "../store.ts";
import {
	embeddedPrompt, fetchModels, fetchPrompt, fetchProviders, sendPrompt, SCOPES, wholePrompt,
	type Answer, type Place, type Prompt, type Providers, type Scope,
} from "../suggest.ts";
import { Proposal } from "./proposal.tsx";

const BYTES_PER_TOKEN = 4; // roughly, for code

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const isAbort = (error: unknown) => error instanceof DOMException && error.name === "AbortError";

export function canSuggest(app: App): boolean {
	return app.server !== undefined || document.getElementById("heatline-prompts") !== null;
}

// What a suggestion can be about, at this line.
function scopesOf(app: App, line: Line): Scope[] {
	const region = sourceLine(app.profile, line.file, line.regionStart);
	const isLoop = region === "" ? line.regionStart !== line.line && line.regionStart !== line.functionStart : /^\s*(async\s+)?(for|while)\b/.test(region);
	return SCOPES.filter((scope) => scope === "line" || (scope === "loop" ? isLoop : line.functionStart > 0));
}

export function SuggestDialog({ line, scope, close }: { line: Line; scope: Scope; close(): void }) {
	const app = useApp();
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => dialog.current?.showModal(), []);
	return (
		<dialog ref={dialog} class="suggest" aria-labelledby="suggest-title" onClose={close}>
			<header>
				<h2 id="suggest-title">Suggest an optimisation <small>{placeOf(app.profile, line)} in {functionOf(app.profile, line)}</small></h2>
				<button type="button" onClick={close}>Close</button>
			</header>
			{app.server ? <Served line={line} scope={scope} /> : <Embedded line={line} />}
		</dialog>
	);
}

// In a standalone file: the prompt to copy, if the file has it.
function Embedded({ line }: { line: Line }) {
	const app = useApp();
	const path = app.profile.files[line.file]?.path ?? "";
	const prompt = embeddedPrompt(path, line.line);
	if (!prompt)
		return <p class="empty">This file has prompts for its hottest lines only. In a terminal: <code>heatline suggest --prompt-only --line {placeOf(app.profile, line)}</code></p>;
	return (
		<>
			<p class="empty">This page is a file and sends nothing. Copy the prompt to a model of yours, or open the profile with <code>heatline view</code>, which can send it and verify the answer.</p>
			<PromptText prompt={prompt} />
			<p class="actions"><CopyPrompt prompt={prompt} /></p>
		</>
	);
}

function CopyPrompt({ prompt }: { prompt: Prompt | undefined }) {
	const [said, say] = useState("");
	const copy = async () => prompt && say((await copyText(wholePrompt(prompt))) ? "Copied." : "The browser does not let this page copy: select the text above.");
	return (
		<>
			<button type="button" disabled={!prompt} onClick={() => void copy()}>Copy prompt</button>
			<span role="status">{said}</span>
		</>
	);
}

function PromptText({ prompt }: { prompt: Prompt }) {
	return (
		<section>
			<h3>
				This is what is sent{" "}
				<small>
					{megabytes(prompt.bytes / 1048576)}, about {count(prompt.bytes / BYTES_PER_TOKEN)} tokens;{" "}
					{prompt.masked === 0 ? "no secrets found in it" : `${count(prompt.masked)} ${prompt.masked === 1 ? "secret" : "secrets"} masked`}
				</small>
			</h3>
			<pre class="prompt" tabIndex={0} role="region" aria-label="What is sent">{wholePrompt(prompt)}</pre>
		</section>
	);
}

// The latest result of a request that is made anew when `key` changes.
function useRequest<T>(key: string, request: (signal: AbortSignal) => Promise<T>): { value?: T; error?: string } {
	const [state, setState] = useState<{ key: string; value?: T; error?: string }>({ key: "" });
	useEffect(() => {
		if (key === "") return;
		const abort = new AbortController();
		request(abort.signal).then(
			(value) => setState({ key, value }),
			(error: unknown) => isAbort(error) || setState({ key, error: messageOf(error) }),
		);
		return () => abort.abort();
	}, [key]);
	return state.key === key ? state : {};
}

function Served({ line, scope: first }: { line: Line; scope: Scope }) {
	const app = useApp();
	const scopes = scopesOf(app, line);
	const [scope, setScope] = useState<Scope>(scopes.includes(first) ? first : "line");
	const place: Place = { file: line.file, path: app.profile.files[line.file]?.path ?? "", line: line.line, scope };
	const prompt = useRequest(`${place.file}:${place.line}:${scope}`, (signal) => fetchPrompt(place, signal));
	const providers = useRequest("providers", fetchProviders);
	return (
		<>
			{scopes.length > 1 && (
				<fieldset class="switch">
					<legend>About</legend>
					{scopes.map((one) => (
						<label key={one} class="check"><input type="radio" name="scope" checked={scope === one} onChange={() => setScope(one)} /> the {one}</label>
					))}
				</fieldset>
			)}
			{prompt.value ? <PromptText prompt={prompt.value} /> : <p class="empty" role={prompt.error ? "alert" : "status"}>{prompt.error ?? "Preparing the prompt …"}</p>}
			{providers.error && <p class="empty" role="alert">{providers.error}</p>}
			{providers.value?.note && <p class="hint">{providers.value.isAvailable ? "" : "Nothing can be sent from here: "}{providers.value.note}</p>}
			{providers.value?.isAvailable
				? <Ask key={scope} place={place} prompt={prompt.value} providers={providers.value} />
				: <p class="actions"><CopyPrompt prompt={prompt.value} /></p>}
		</>
	);
}

// Provider, model, “Send”, and the answer while it comes and when it is there.
function Ask({ place, prompt, providers }: { place: Place; prompt: Prompt | undefined; providers: Providers }) {
	const ready = providers.list.filter((one) => one.isReady);
	const remembered = readPreference("provider");
	const [provider, setProvider] = useState((ready.find((one) => one.id === remembered) ?? ready[0])?.id ?? "");
	const [model, setModel] = useState(readPreference(`model.${provider}`));
	const models = useRequest(provider, (signal) => fetchModels(provider, signal));
	const [text, setText] = useState("");
	const [answer, setAnswer] = useState<Answer>();
	const [error, setError] = useState("");
	const sending = useRef<AbortController | undefined>(undefined);
	const [isSending, setSending] = useState(false);
	useEffect(() => () => sending.current?.abort(), []);

	const choose = (id: string) => {
		setProvider(id);
		setModel(readPreference(`model.${id}`));
	};
	const send = async () => {
		writePreference("provider", provider);
		writePreference(`model.${provider}`, model);
		setText("");
		setAnswer(undefined);
		setError("");
		setSending(true);
		const abort = (sending.current = new AbortController());
		try {
			let all = "";
			setAnswer(await sendPrompt(place, provider, model, abort.signal, (more) => setText((all += more))));
		} catch (reason) {
			setError(abort.signal.aborted ? "Cancelled." : messageOf(reason));
		}
		setSending(false);
	};
	if (ready.length === 0)
		return (
			<>
				<p class="hint">No provider is set up. Set one of these before <code>heatline view</code>, or copy the prompt to a model of yours:</p>
				<ul class="needs">{providers.list.map((one) => <li key={one.id}>{one.name}: <code>{one.needs}</code></li>)}</ul>
				<p class="actions"><CopyPrompt prompt={prompt} /></p>
			</>
		);
	return (
		<>
			<form class="actions" onSubmit={(event) => { event.preventDefault(); void send(); }}>
				<label>Provider <select value={provider} disabled={isSending} onChange={(event) => choose(event.currentTarget.value)}>
					{providers.list.map((one) => <option key={one.id} value={one.id} disabled={!one.isReady}>{one.name}{one.isReady ? "" : ` (needs ${one.needs})`}</option>)}
				</select></label>
				<label>Model <input list="models" required value={model} disabled={isSending} placeholder={models.value ? `${models.value.length} to choose from` : ""} onInput={(event) => setModel(event.currentTarget.value)} /></label>
				<datalist id="models">{models.value?.map((name) => <option key={name} value={name} />)}</datalist>
				{isSending // with keys: a click on one must not be finished by the other, which submits
					? <button key="cancel" type="button" onClick={() => sending.current?.abort()}>Cancel</button>
					: <button key="send" type="submit" class="main" disabled={!prompt || model.trim() === ""}>Send</button>}
				<CopyPrompt prompt={prompt} />
			</form>
			{models.error && <p class="hint">The models could not be listed: {models.error} A name can be typed.</p>}
			<p role="status" class="state">{isSending ? (text === "" ? "Waiting for the answer …" : "The answer is coming …") : ""}</p>
			{error && <p class="hint" role="alert">{error}</p>}
			{text !== "" && !answer && <pre class="prompt" tabIndex={0} role="region" aria-label="The answer so far">{text}</pre>}
			{answer && <Proposal place={place} answer={answer} text={text} />}
		</>
	);
}
