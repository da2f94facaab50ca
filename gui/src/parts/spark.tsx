// Memory over time in a cell: one path, scaled to its own largest value.  A value holds
// until the next one.

export function Spark({ points, until }: { points: readonly (readonly [number, number])[]; until: number }) {
	if (points.length < 2 || !(until > 0)) return null;
	const most = points.reduce((m, point) => Math.max(m, point[1]), 0) || 1;
	const x = (s: number) => ((s / until) * 60).toFixed(1);
	const y = (mb: number) => (15 - (mb / most) * 14).toFixed(1);
	const path = points
		.map(([s, mb], i) => i === 0 ? `M${x(s)} ${y(mb)}` : `H${x(s)}V${y(mb)}`)
		.join("");
	return (
		<svg class="spark" viewBox="0 0 60 16" width="60" height="16" aria-hidden="true">
			<path d={path} fill="none" stroke="currentColor" stroke-width="1.2" />
		</svg>
	);
}
