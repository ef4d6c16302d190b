'use client'
import { Download, X } from 'lucide-react'
import { exportItems } from '#components/list/list-menus.tsx'
import type { ChosenColumns } from '#components/list/use-columns.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { ExportFields } from '#lib/console/lists/export.ts'
import type { Axon } from '#lib/contract/axons.ts'

interface AxonSelectionProps {
  rows: readonly Axon[]
  source: { nouns: string }
  columns: ChosenColumns
  fields: () => Promise<ExportFields<Axon>>
  onClear: () => void
}

/** What can be done with the selected rows that are shown. */
export const AxonSelection = ({ rows, onClear, ...exported }: AxonSelectionProps) => (
  <section
    aria-label="Selected axons"
    className="animate-appear sticky bottom-3 z-10 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-md bg-overlay py-1 pr-1 pl-3 shadow-overlay"
  >
    <p role="status" className="tabular mr-2 font-medium">
      {formatCount(rows.length)} selected
    </p>
    <CopyButton what="ids" text={() => rows.map(({ id }) => id).join('\n')} />
    <DropdownMenu
      label="Export selected"
      trigger={
        <Button size="sm" variant="ghost" icon={Download}>
          Export selected
        </Button>
      }
      items={exportItems('selected', rows, exported)}
    />
    <Button size="sm" variant="ghost" icon={X} onClick={onClear}>
      Clear selection
    </Button>
  </section>
)
