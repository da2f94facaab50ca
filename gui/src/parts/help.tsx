// The keys, what the words mean, and how to search.

import { useEffect, useRef, useState } from "preact/hooks";
import { KEYS } from "../keys.ts";
import { readPreference, writePreference } from "../store.ts";

const WORDS: readonly (readonly [string, string])[] = [
	["total", "For each process the wall time of its main thread, plus the CPU time of its other threads. All percentages are of it."],
	["Python", "The interpreter itself, running bytecode."],
	["native", "C code doing a line's work: extension modules, builtins, long operations."],
	["system", "On the CPU in the kernel."],
	["waiting", "The main thread off the CPU: sleeping, reading, waiting for a lock."],
	["~", "Fewer than ten samples: a rough figure."],
];

export function Help({ close }: { close(): void }) {
	const dialog = useRef<HTMLDialogElement>(null);
	const [isOn, setOn] = useState(readPreference("keys") !== "off");
	useEffect(() => dialog.current?.showModal(), []);
	return (
		<dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close} onKeyDown={(event) => event.key === "?" && close()}>
			<header>
				<h2 id="help-title">Help</h2>
				<button type="button" onClick={close}>Close</button>
			</header>
			<div class="help-columns">
				<section>
					<h3>Keys</h3>
					<dl>{KEYS.map((key) => <div key={key.key}><dt><kbd>{key.key}</kbd></dt><dd>{key.does}</dd></div>)}</dl>
					<label class="check">
						<input
							type="checkbox"
							checked={isOn}
							onChange={(event) => {
								setOn(event.currentTarget.checked);
								writePreference("keys", event.currentTarget.checked ? "" : "off");
							}}
						/> single keys work
					</label>
				</section>
				<section>
					<h3>Words</h3>
					<dl>{WORDS.map(([word, meaning]) => <div key={word}><dt>{word}</dt><dd>{meaning}</dd></div>)}</dl>
					<h3>Search</h3>
					<dl>
						<div><dt>parse json</dt><dd>both words, in code, function or file</dd></div>
						<div><dt>f:models</dt><dd>in the file's name</dd></div>
						<div><dt>fn:load</dt><dd>in the function's name</dd></div>
						<div><dt>&gt;1%</dt><dd>lines above this share</dd></div>
						<div><dt>/for .* in/</dt><dd>a regular expression (without spaces: <code>\s</code>)</dd></div>
					</dl>
				</section>
			</div>
		</dialog>
	);
}
