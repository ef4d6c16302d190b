import { classes } from './classes.ts'

export interface SkeletonRowsProps {
  rows?: number
  columns: number
  label: string
}

/** Placeholder with the row height of a DataTable. */
export const SkeletonRows = ({ rows = 8, columns, label }: SkeletonRowsProps) => (
  <div role="status" className="animate-appear-late">
    <span className="sr-only">{label}</span>
    <div className="h-8 border-b border-line" />
    {upTo(rows).map((row) => (
      <div key={row} className="flex h-(--row-height) items-center gap-6 border-b border-line px-3">
        {upTo(columns).map((column) => (
          <span
            key={column}
            aria-hidden
            className={classes(
              'animate-pulse-soft block h-3 rounded-sm bg-surface-2',
              column === 0 ? 'w-48 shrink-0' : 'flex-1',
              column > 1 && 'hidden sm:block',
            )}
          />
        ))}
      </div>
    ))}
  </div>
)

const upTo = (count: number) => [...Array(count).keys()]
