'use client'
import { Download } from 'lucide-react'
import { exportItems } from '#components/list/list-tools.tsx'
import { SelectionBar } from '#components/list/selection-bar.tsx'
import type { ChosenColumns } from '#components/list/use-columns.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { ExportFields } from '#lib/browser/lists/export.ts'
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
  <SelectionBar
    noun="axon"
    nouns="axons"
    counts={['{count} axon', '{count} axons']}
    rows={rows}
    actions={[]}
    onClear={onClear}
  >
    <CopyButton what="ids" text={() => rows.map(({ id }) => id).join('\n')} />
    <DropdownMenu
      label="Export selected"
      trigger={
        <Button size="sm" variant="ghost" icon={Download}>
          Export selected
        </Button>
      }
      items={exportItems(`${formatCount(rows.length)} selected`, rows, exported)}
    />
  </SelectionBar>
)
