'use client'
import { Download } from 'lucide-react'
import { exportItems } from '#components/list/list-tools.tsx'
import { SelectionBar } from '#components/list/selection-bar.tsx'
import type { ChosenColumns } from '#components/list/use-columns.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import type { ExportFields } from '#lib/console/lists/export.ts'
import type { Axon } from '#lib/contract/axons.ts'
import { formatCount, t } from '#lib/language/translate.ts'

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
    <CopyButton what={t('ids')} text={() => rows.map(({ id }) => id).join('\n')} />
    <DropdownMenu
      label={t('Export selected')}
      trigger={
        <Button size="sm" variant="ghost" icon={Download}>
          {t('Export selected')}
        </Button>
      }
      items={exportItems(t('{count} selected', { count: formatCount(rows.length) }), rows, exported)}
    />
  </SelectionBar>
)
