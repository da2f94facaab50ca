// What was run, the tabs, the search, and what concerns the page as a whole.

import { useApp } from "../context.ts";
import { baseName } from "../format.ts";
import { stepLine } from "../keys.ts";
import { EXPORTS, type Connection } from "../load.ts";
import { copyMarkdown } from "../markdown.ts";
import { VIEWS, type View } from "../state.ts";
import { THEMES, type Theme } from "../theme.ts";

const NAMES: Readonly<Record<View, string>> = {
	summary: "Summary",
	source: "Source",
	flame: "Flame graph",
	timeline: "Timeline",
	memory: "Memory",
	compare: "Compare",
};

interface Props {
	theme: Theme;
	setTheme(theme: Theme): void;
	openHelp(): void;
	connection: Connection;
}

export function TopBar(props: Props) {
	const app = useApp();
	const { profile, state, server } = app;
	const command = [profile.program, ...profile.args].join(" ");
	return (
		<header class="topbar">
			<div class="program">
				<strong>{baseName(profile.program) || "profile"}</strong>
				<span class="command" title={command}>{command}</span>
				<span class="about">
					{[profile.python && `Python ${profile.python}`, profile.started > 0 && new Date(profile.started * 1000).toLocaleString(), profile.machine]
						.filter(Boolean).join(" · ")}
				</span>
				{server?.isLive && <span class={props.connection === "live" ? "live" : "live off"} role="status">{props.connection}</span>}
			</div>
			<nav class="tabs" aria-label="Views">
				{VIEWS.map((view) => (
					<button key={view} type="button" aria-current={state.view === view ? "page" : undefined} onClick={() => app.go({ view })}>
						{NAMES[view]}
					</button>
				))}
			</nav>
			<input
				id="search"
				type="search"
				placeholder="Search  /"
				aria-label="Search in files, functions and code"
				value={state.query}
				onInput={(event) => app.go({ query: event.currentTarget.value }, false)}
				onKeyDown={(event) => {
					if (event.key === "Enter" && state.query !== "" && state.view !== "flame") stepLine(app, event.shiftKey ? -1 : 1);
				}}
			/>
			<details class="menu">
				<summary>Save</summary>
				<div class="sheet narrow">
					<button type="button" class="link" onClick={() => void copyMarkdown(app)}>Copy as Markdown</button>
					<button type="button" class="link" onClick={() => download(profile.json)}>Profile (JSON)</button>
					<button type="button" class="link" onClick={() => print()}>Print</button>
					{server && EXPORTS.map(([format, name]) => <a key={format} href={`api/export/0/${format}`} download>{name}</a>)}
				</div>
			</details>
			<select aria-label="Theme" value={props.theme} onChange={(event) => props.setTheme(event.currentTarget.value as Theme)}>
				{THEMES.map((theme) => <option key={theme} value={theme}>{theme === "contrast" ? "high contrast" : theme}</option>)}
			</select>
			<button type="button" class="icon" aria-label="Help" onClick={props.openHelp}>?</button>
		</header>
	);
}

function download(json: unknown): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([JSON.stringify(json)], { type: "application/json" }));
	link.download = "heatline-profile.json";
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
