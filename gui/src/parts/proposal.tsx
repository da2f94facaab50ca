// What a model proposes: the change as a diff, what it says about it; then trying it out
// in a copy, and only then, when the user says so, changing the file.

import { useEffect, useRef, useState } from "preact/hooks";
import { baseName } from "../format.ts";
import { applyDiff, diffLines, verifyDiff, type Answer, type Place, type Step, type Verdict } from "../suggest.ts";
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
	const [step, setStep] = useState<Step>();
	const [verdict, setVerdict] = useState<Verdict>();
	const [said, say] = useState("");
	const running = useRef<AbortController | undefined>(undefined);
	const [isRunning, setRunning] = useState(false);
	const [isApplied, setApplied] = useState(false);
	useEffect(() => () => running.current?.abort(), []);

	const verify = async () => {
		writePreference("test", test);
		setStep(undefined);
		setVerdict(undefined);
		say("");
		setRunning(true);
		const abort = (running.current = new AbortController());
		try {
			setVerdict(await verifyDiff(place, diff, test, abort.signal, setStep));
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
			{isRunning && (
				<p class="state">
					{step && step.all > 0 && <progress aria-label="Verifying" value={step.done} max={step.all} />} <span role="status">{step?.text ?? "Starting …"}</span>
				</p>
			)}
			{verdict && <p class={`verdict ${verdict.isFaster ? "faster" : verdict.isUnclear ? "" : "slower"}`} role="status">{verdict.sentence}</p>}
			{verdict?.details && <pre class="prompt" tabIndex={0} role="region" aria-label="What failed">{verdict.details}</pre>}
			{said && <p class="hint" role="alert">{said}</p>}
		</form>
	);
}
