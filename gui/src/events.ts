// Server-sent events of an answer to POST, for which browsers have no reader of their own.

export interface ServerEvent {
	readonly name: string;
	readonly data: unknown; // JSON, or the text where it is none
}

// Takes text in any pieces, gives whole events.
export class EventParser {
	private rest = "";

	feed(text: string): ServerEvent[] {
		this.rest += text;
		const blocks = this.rest.split(/\r?\n\r?\n/);
		this.rest = blocks.pop() ?? "";
		return blocks.map(parseBlock).filter((event) => event !== undefined);
	}
}

function parseBlock(block: string): ServerEvent | undefined {
	let name = "message";
	const data: string[] = [];
	for (const line of block.split(/\r?\n/)) {
		const [, field, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
		if (field === "event") name = value ?? name;
		if (field === "data") data.push(value ?? "");
	}
	return data.length > 0 ? { name, data: parseData(data.join("\n")) } : undefined;
}

function parseData(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

// Calls back with each event until the answer ends.
export async function readEvents(response: Response, take: (event: ServerEvent) => void): Promise<void> {
	const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
	const parser = new EventParser();
	for (;;) {
		const { done, value } = await reader.read();
		for (const event of parser.feed(done ? "\n\n" : value)) take(event);
		if (done) return;
	}
}
