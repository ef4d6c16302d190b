import { useMemo, useState } from 'react'
import type { emptySelection } from '#components/list/column.ts'
import type { Alert, AlertGroup } from '#lib/protocol/alerts.ts'

type RowIds = Readonly<Record<string, boolean>>

/** Selects alerts. The row of a group stands for all of its alerts. */
export const useAlertSelection = (groups: readonly AlertGroup[]) => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const selected = useMemo(() => selectedRows(ids, groups), [ids, groups])
  return {
    selected,
    onChange: (next: RowIds) => setIds(selectedAlerts(selected, next, groups)),
    alerts: groups.flatMap(({ alerts }) => alerts.filter(({ id }) => ids.has(id))),
    clear: () => setIds(new Set()),
  }
}

export const selectedRows = (ids: ReadonlySet<string>, groups: readonly AlertGroup[]) => {
  const isSelected = ({ id }: Alert) => ids.has(id)
  const rows = groups.flatMap(({ id, alerts }) => [
    ...(alerts.every(isSelected) ? [id] : []),
    ...alerts.filter(isSelected).map((alert) => alert.id),
  ])
  return Object.assign(Object.create(null) as typeof emptySelection, Object.fromEntries(rows.map((id) => [id, true])))
}

export const selectedAlerts = (before: RowIds, next: RowIds, groups: readonly AlertGroup[]): Set<string> => {
  const ids = new Set<string>()
  for (const { id, alerts } of groups) {
    const isToggled = alerts.length > 1 && Object.hasOwn(before, id) !== Object.hasOwn(next, id)
    const rowOf = (alert: Alert) => (isToggled ? id : alert.id)
    for (const alert of alerts) if (Object.hasOwn(next, rowOf(alert))) ids.add(alert.id)
  }
  return ids
}
