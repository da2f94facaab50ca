// What a model proposes: the change as a diff, what it says about it; then trying it out
// in a copy, and only then, when the user says so, changing the file.

import { useEffect, useRef, useState } from "preact/hooks";
import { baseName } from "../format.ts";
import { applyDiff, diffLines, verifyDiff, type Answer, type Place, type Verdict } from "../suggest.ts";
import { readPreference, writePreference } from "../store.ts";
import { messageOf } from "./suggest.tsx";

export function Proposal({ place, answer, text }: { place: Place; answer: Answer; text: string }) {
	const parts = [["Diagnosis", answer.diagnosis], ["Expected gain", answer.gain], ["Risks", answer.risks], ["How to test", answer.test]] as const;
	const section = useRef<HTMLElement>(null);
	useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), []);
	return (
		<section class="proposal" ref={section} aria-label="The proposal">
			{answer.note && <p class="hint">{answer.note}</p>}
			{answer.diff
				? <Diff diff={answer.diff} />
				: <p class="hint">The answer has no change that could be tried.</p>}
			<dl>{parts.filter(([, value]) => value !== "").map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
			<details><summary>The answer as it came</summary><pre class="prompt" tabIndex={0}>{text}</pre></details>
			{answer.diff && <Verify key={answer.diff} place={place} diff={answer.diff} />}
		</section>
	);
}

function Diff({ diff }: { diff: string }) {
	return (
		<pre class="diff" tabIndex={0} role="region" aria-label="The change">
			{diffLines(diff).map((line, i) => <span key={i} class={line.kind}>{line.text}{"\n"}</span>)}
		</pre>
	);
}

function Verify({ place, diff }: { place: Place; diff: string }) {
	const [test, setTest] = useState(readPreference("test"));
	const [steps, setSteps] = useState<readonly string[]>([]);
	const [verdict, setVerdict] = useState<Verdict>();
	const [said, say] = useState("");
	const running = useRef<AbortController | undefined>(undefined);
	const [isRunning, setRunning] = useState(false);
	const [isApplied, setApplied] = useState(false);
	useEffect(() => () => running.current?.abort(), []);

	const verify = async () => {
		writePreference("test", test);
		setSteps([]);
		setVerdict(undefined);
		say("");
		setRunning(true);
		const abort = (running.current = new AbortController());
		try {
			setVerdict(await verifyDiff(place, diff, test, abort.signal, (step) => setSteps((old) => [...old, step])));
		} catch (reason) {
			say(abort.signal.aborted ? "Cancelled." : messageOf(reason));
		}
		setRunning(false);
	};
	const apply = () => applyDiff(place, diff).then(
		(text) => {
			setApplied(true);
			say(text);
		},
		(reason: unknown) => say(messageOf(reason)),
	);
	return (
		<form class="verify" onSubmit={(event) => { event.preventDefault(); void verify(); }}>
			<p>Verifying applies the change to a copy, compiles it, runs your test command there and profiles both versions. The file itself is changed only by “Apply”.</p>
			<p class="actions">
				<label>Test command <input value={test} disabled={isRunning} placeholder="pytest -q" onInput={(event) => setTest(event.currentTarget.value)} /></label>
				{isRunning
					? <button key="cancel" type="button" onClick={() => running.current?.abort()}>Cancel</button>
					: <button key="verify" type="submit" class="main">Verify</button>}
				<button type="button" disabled={isRunning || isApplied} onClick={() => void apply()}>Apply to {baseName(place.path)}</button>
			</p>
			<ol class="steps" aria-live="polite">{steps.map((step, i) => <li key={i}>{step}</li>)}</ol>
			{verdict && <p class={verdict.isGood ? "verdict faster" : "verdict slower"} role="status">{verdict.text}</p>}
			{said && <p class="hint" role="alert">{said}</p>}
		</form>
	);
}
