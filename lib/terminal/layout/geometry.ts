import type { PaneTree, SplitDirection } from './layout.ts'

export interface Area {
  left: number
  top: number
  width: number
  height: number
}

export interface PlacedPane extends Area {
  name: string
}

export interface PlacedSeparator {
  path: readonly number[]
  after: number
  way: SplitDirection
  area: Area
  at: number
  shares: readonly number[]
  between: readonly [string, string]
}

const whole: Area = { left: 0, top: 0, width: 100, height: 100 }

/** Positions of a tab's panes, in reading order, and of the separators between them. */
export const placeTree = (
  tree: PaneTree,
  area: Area = whole,
  path: readonly number[] = [],
): { panes: PlacedPane[]; separators: PlacedSeparator[] } => {
  if (typeof tree === 'string') return { panes: [{ name: tree, ...area }], separators: [] }
  const { way, parts } = tree
  const shares = parts.map(({ share }) => share)
  const panes: PlacedPane[] = []
  const separators: PlacedSeparator[] = []
  let at = 0
  for (const [index, { tree: inner, share }] of parts.entries()) {
    const placed = placeTree(inner, part(area, way, at, share), [...path, index])
    const before = panes.at(-1)
    const next = placed.panes[0]
    if (before && next)
      separators.push({ path, after: index - 1, way, area, at, shares, between: [before.name, next.name] })
    panes.push(...placed.panes)
    separators.push(...placed.separators)
    at += share
  }
  return { panes, separators }
}

const part = ({ left, top, width, height }: Area, way: SplitDirection, at: number, share: number): Area =>
  way === 'right'
    ? { left: left + (width * at) / 100, top, width: (width * share) / 100, height }
    : { left, top: top + (height * at) / 100, width, height: (height * share) / 100 }

/** New shares after moving the separator behind part `after` to `at` percent; both sides keep `least`. */
export const moveLine = (shares: readonly number[], after: number, at: number, least: number): number[] => {
  const before = shares.slice(0, after).reduce((sum, share) => sum + share, 0)
  const both = (shares[after] as number) + (shares[after + 1] as number)
  // If both can't have the minimum, they share evenly.
  const floor = Math.min(least, both / 2)
  const first = Math.round(Math.min(both - floor, Math.max(floor, at - before)))
  return shares.map((share, index) => (index === after ? first : index === after + 1 ? both - first : share))
}

export type Direction = 'left' | 'right' | 'up' | 'down'

const opposite = { left: 'right', right: 'left', up: 'down', down: 'up' } as const

const edgesOf = ({ left, top, width, height }: Area) => ({ left, right: left + width, up: top, down: top + height })

/** The adjacent pane in a direction, preferring the one opposite the middle. */
export const neighborOf = (panes: readonly PlacedPane[], name: string, direction: Direction): string | undefined => {
  const from = panes.find((pane) => pane.name === name)
  if (!from) return undefined
  const isHorizontal = direction === 'left' || direction === 'right'
  const middle = isHorizontal ? from.top + from.height / 2 : from.left + from.width / 2
  const edge = edgesOf(from)[direction]
  const touching = panes.filter((pane) => Math.abs(edgesOf(pane)[opposite[direction]] - edge) < 0.01)
  const away = (pane: PlacedPane) => {
    const [start, size] = isHorizontal ? [pane.top, pane.height] : [pane.left, pane.width]
    return Math.max(start - middle, middle - (start + size), 0)
  }
  return touching.sort((a, b) => away(a) - away(b))[0]?.name
}
