// Numbers as people read them: three significant digits, the unit always there.

// As the report in the terminal has them, but for what is shorter than a tenth of a second.
export function seconds(s: number): string {
	if (!(s > 0)) return "0 s";
	if (s < 0.0005) return `${(s * 1e6).toFixed(0)} µs`;
	if (s < 0.0995) return `${significant(s * 1e3)} ms`;
	if (s < 9999.5) return `${significant(s)} s`;
	return `${(s / 3600).toFixed(s < 3600 * 99.95 ? 1 : 0)} h`;
}

// Two digits after the point below 10, one below 100: 0.41, 3.92, 17.4, 123.
function significant(n: number): string {
	if (n < 9.995) return n.toFixed(2);
	if (n < 99.95) return n.toFixed(1);
	return n.toFixed(0);
}

export function percent(p: number): string {
	if (!(p > 0)) return "0%";
	if (p < 0.05) return "<0.1%";
	return `${p.toFixed(1)}%`;
}

// MB are MiB throughout, as in the profile file.
export function megabytes(mb: number): string {
	if (!(mb > 0)) return "0 B";
	if (mb < 1 / 1024) return `${Math.round(mb * 1048576)} B`;
	if (mb < 0.9995) return `${significant(mb * 1024)} KB`;
	if (mb < 1023.5) return `${significant(mb)} MB`;
	return `${significant(mb / 1024)} GB`;
}

export function count(n: number): string {
	return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// A difference keeps its sign in print, also where the font has none for zero.
export function signed(n: number, text: (n: number) => string): string {
	if (n === 0) return text(0);
	return `${n > 0 ? "+" : "−"}${text(Math.abs(n))}`;
}

// The end of a path that fits: whole folders, the file name always.  What is no path
// (`<frozen importlib._bootstrap>:241`) loses its beginning, not the number at its end.
export function shortPath(path: string, most: number): string {
	if (path.length <= most) return path;
	if (!path.includes("/")) return `…${path.slice(1 - most)}`;
	const parts = path.split("/");
	let text = parts.pop() ?? path;
	while (parts.length > 0) {
		const longer = `${parts.pop()}/${text}`;
		if (longer.length + 2 > most) break;
		text = longer;
	}
	return `…/${text}`;
}

export function baseName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}
