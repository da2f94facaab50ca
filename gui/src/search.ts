// The search box: words that must all occur in the file, the function or the code;
// f:name and fn:name look in one of them; >1% wants a share; /…/ is a regular expression.

export interface Place {
	readonly file: string;
	readonly func: string;
	readonly code: string;
	readonly percent: number;
}

export type Matcher = (place: Place) => boolean;

export function parseQuery(query: string): Matcher | undefined {
	const tests = query.trim().split(/\s+/).filter((word) => word !== "").map(parseWord);
	return tests.length === 0 ? undefined : (place) => tests.every((test) => test(place));
}

function parseWord(word: string): Matcher {
	const share = /^>(\d+(?:\.\d+)?)%?$/.exec(word);
	if (share) return (place) => place.percent > Number(share[1]);
	const field = /^(f|fn):(.+)$/.exec(word);
	if (field) {
		const test = parseText(field[2]!);
		return field[1] === "f" ? (place) => test(place.file) : (place) => test(place.func);
	}
	const test = parseText(word);
	return (place) => test(place.code) || test(place.func) || test(place.file);
}

function parseText(word: string): (text: string) => boolean {
	const pattern = /^\/(.+)\/$/.exec(word);
	if (pattern) {
		try {
			const regexp = new RegExp(pattern[1]!, "i");
			return (text) => regexp.test(text.slice(0, 1000));
		} catch {
			return () => false; // half typed
		}
	}
	const lower = word.toLowerCase();
	return (text) => text.toLowerCase().includes(lower);
}
