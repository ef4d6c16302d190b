/** What is selected after a row was ticked. `range` reaches from the row ticked before, in the order rows are shown. */
export interface Selection {
  selected: ReadonlySet<string>
  /** Where a range starts. */
  anchor: string | null
}

export const emptySelection: Selection = { selected: new Set(), anchor: null }

export const select = (
  { selected, anchor }: Selection,
  key: string,
  { range, order }: { range: boolean; order: readonly string[] },
): Selection => {
  const after = new Set(selected)
  const [start, end] = [anchor === null ? -1 : order.indexOf(anchor), order.indexOf(key)]
  if (range && start !== -1 && end !== -1) {
    // A range takes the state its first row has, so that it also takes back.
    const isOn = selected.has(anchor as string)
    for (const each of order.slice(Math.min(start, end), Math.max(start, end) + 1))
      if (isOn) after.add(each)
      else after.delete(each)
  } else if (!after.delete(key)) after.add(key)
  return { selected: after, anchor: key }
}
