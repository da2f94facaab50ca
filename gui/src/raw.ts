// Reading values of unknown type: a profile is untrusted input, and one that Scalene
// wrote lacks keys.  Every reader gives a value of its type, whatever is there.

export type Raw = { readonly [key: string]: unknown };

export function object(value: unknown): Raw {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : {};
}

export function list(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

export function number(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function optionalNumber(value: unknown): number | undefined {
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

export function flag(value: unknown): boolean {
	return value === true;
}

export function texts(value: unknown): string[] {
	return list(value).filter((item): item is string => typeof item === "string");
}

export function numbers(value: unknown): number[] {
	return list(value).map(number);
}

export function pairs(value: unknown): [number, number][] {
	return list(value).map((item) => {
		const pair = list(item);
		return [number(pair[0]), number(pair[1])];
	});
}
