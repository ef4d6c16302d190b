export interface Labeled {
  x: number
  y: number
  /** Width of the label. */
  width: number
}

export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

const [lineHeight, gap, markRadius] = [14, 8, 6]

/** Places labels next to their points, within the bounds and off other labels and points; null for those that don't fit. */
export const labelPlaces = (points: readonly Labeled[], bounds: Box): (Box | null)[] => {
  const taken = points.map(({ x, y }): Box => box(x - markRadius, y - markRadius, 2 * markRadius, 2 * markRadius))
  return points.map((point, at) => {
    const free = candidates(point).find(
      (each) => isWithin(each, bounds) && taken.every((other, i) => i === at || !overlaps(each, other)),
    )
    if (free) taken.push(free)
    return free ?? null
  })
}

const box = (left: number, top: number, width: number, height: number): Box => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
})

/** Tries above left and below right first, which the steps of a frontier leave free, then farther and farther away. */
const candidates = ({ x, y, width }: Labeled): Box[] =>
  [0, 1, 2, 3].flatMap((step) => {
    const [above, below] = [y - 2 - (step + 1) * lineHeight, y + 2 + step * lineHeight]
    const [left, right] = [x - gap - width, x + gap]
    return [
      box(left, above, width, lineHeight),
      box(right, below, width, lineHeight),
      box(right, above, width, lineHeight),
      box(left, below, width, lineHeight),
    ]
  })

const isWithin = (each: Box, bounds: Box): boolean =>
  each.left >= bounds.left && each.right <= bounds.right && each.top >= bounds.top && each.bottom <= bounds.bottom

export const overlaps = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
