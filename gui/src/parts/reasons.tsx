import { sourceLine } from "../context.ts";
import type { Line, Profile } from "../model.ts";
import { reasonsOf } from "../rules.ts";

export function Reasons({ line, profile }: { line: Line; profile: Profile }) {
	return (
		<>
			{reasonsOf(line, profile, (number) => sourceLine(profile, line.file, number)).map((reason) => (
				<span key={reason.text} class={`reason ${reason.kind}`}>{reason.text}</span>
			))}
		</>
	);
}
