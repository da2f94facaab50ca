// Begins here: load, then show, or say in one sentence why not.

import { render, type ComponentChild } from "preact";
import { Page } from "./app.tsx";
import { load } from "./load.ts";
import "./style.css";

const root = document.getElementById("app")!;
const show = (what: ComponentChild) => {
	root.replaceChildren();
	render(what, root);
};
load().then(
	(loaded) => {
		document.title = `${loaded.profile.program.split("/").pop() || "Profile"} – Heatline`;
		show(<Page loaded={loaded} />);
	},
	(error: unknown) => show(<p class="empty big" role="alert">{error instanceof Error ? error.message : String(error)}</p>),
);
