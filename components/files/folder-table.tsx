import { Download, Ellipsis, File, FileSymlink, FileX, Folder, Pencil, Trash2 } from 'lucide-react'
import type { Column } from '#components/list/column.ts'
import { DataTable, type RowSelection } from '#components/list/data-table.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import { type EntrySort, entrySorts } from '#lib/protocol/list-folder.ts'
import { isUtf8, joinPath } from './file-path.ts'
import type { FilesNav } from './files-nav.ts'
import { type EntryType, type FolderEntry, formatMode, openTarget } from './folder-listing.ts'

interface FolderTableProps {
  nav: FilesNav
  folder: string
  rows: readonly FolderEntry[]
  sort: EntrySort
  onSort: (sort: EntrySort) => void
  busy: boolean
  total: number
  onNearEnd: () => void
  selection: Omit<RowSelection<FolderEntry>, 'labelOf'>
  changeRefusal: string | null
  downloadRefusal: string | null
  onDownload: (entry: FolderEntry) => void
  onRename: (entry: FolderEntry) => void
  onDelete: (entry: FolderEntry) => void
}

export const FolderTable = ({
  nav,
  folder,
  rows,
  sort,
  onSort,
  busy,
  selection,
  total,
  onNearEnd,
  ...actions
}: FolderTableProps) => (
  <DataTable
    caption="Files"
    columns={columns}
    rows={rows}
    rowKey={({ name }) => name}
    rowHref={(entry) =>
      openTarget(entry) === 'folder' ? nav.hrefOf(joinPath(folder, entry.name)) : nav.hrefOf(folder, entry.name)
    }
    busy={busy}
    totalRows={total}
    onNearEnd={onNearEnd}
    sort={sort}
    onSort={(next) => {
      const column = entrySorts.find((each) => each === next?.column) ?? sort.column
      onSort({ column, descending: next?.descending ?? false })
    }}
    selection={{ ...selection, labelOf: ({ name }) => `Select ${displayName(name)}` }}
    rowActions={(entry) => {
      const name = displayName(entry.name)
      return (
        <>
          <IconButton
            size="sm"
            icon={Download}
            label={openTarget(entry) === 'folder' ? `Download ${name} as an archive` : `Download ${name}`}
            disabledReason={actions.downloadRefusal}
            onClick={() => actions.onDownload(entry)}
          />
          <DropdownMenu
            label={`Actions for ${name}`}
            trigger={<IconButton size="sm" icon={Ellipsis} label={`More actions for ${name}`} />}
            items={[
              {
                label: 'Rename',
                icon: Pencil,
                hint: 'F2',
                disabledReason: actions.changeRefusal,
                onSelect: () => actions.onRename(entry),
              },
              {
                label: 'Delete',
                icon: Trash2,
                tone: 'danger',
                hint: 'Del',
                disabledReason: actions.changeRefusal,
                onSelect: () => actions.onDelete(entry),
              },
            ]}
          />
        </>
      )
    }}
  />
)

const columns: readonly Column<FolderEntry>[] = [
  {
    accessorKey: 'name',
    id: 'name',
    header: 'Name',
    cell: ({ row: { original: entry } }) => <EntryName entry={entry} />,
    meta: { priority: 1 },
  },
  {
    accessorKey: 'sizeBytes',
    id: 'size',
    header: 'Size',
    cell: ({ row }) => {
      const { type, sizeBytes } = row.original
      return type === 'f' ? (
        <span title={`${formatCount(sizeBytes)} bytes`}>{formatBytes(sizeBytes)}</span>
      ) : (
        <span className="text-muted">–</span>
      )
    },
    meta: { priority: 2, align: 'right', width: '6.5rem' },
  },
  {
    accessorKey: 'changedMs',
    id: 'changed',
    header: 'Modified',
    cell: ({ row }) => <RelativeTime ms={row.original.changedMs} />,
    meta: { priority: 3, width: '8rem' },
  },
  {
    id: 'permissions',
    header: 'Permissions',
    cell: ({ row: { original: entry } }) => <span title={entry.mode}>{formatMode(entry)}</span>,
    meta: { priority: 4, width: '8.5rem', mono: true },
  },
  {
    id: 'owner',
    header: 'Owner',
    cell: ({ row }) => <VisibleText truncate>{displayName(row.original.owner)}</VisibleText>,
    meta: { priority: 5, width: '7rem' },
  },
]

const typeLabels: Record<EntryType, string> = {
  f: 'file',
  d: 'folder',
  l: 'link',
  p: 'named pipe',
  s: 'socket',
  b: 'block device',
  c: 'device',
}

const EntryName = ({ entry }: { entry: FolderEntry }) => {
  const { name, type, target } = entry
  const opens = openTarget(entry)
  const Icon = opens === 'folder' ? Folder : opens === null ? FileX : target ? FileSymlink : File
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Icon aria-hidden className={opens === 'folder' ? 'size-4 shrink-0 text-accent' : 'size-4 shrink-0 text-muted'} />
      <span className="sr-only">{opens === 'folder' ? 'folder' : typeLabels[type]}</span>
      <span className="min-w-0 shrink truncate">
        <VisibleText truncate>{displayName(name)}</VisibleText>
      </span>
      {target && (
        <span className="min-w-0 shrink-[2] truncate text-sm font-normal text-muted">
          → <VisibleText max={120}>{displayName(target.path)}</VisibleText>
          {target.type === 'N' && ' (broken link)'}
        </span>
      )}
      {!isUtf8(name) && <Badge tone="attention">Not UTF-8</Badge>}
      {opens === null && type !== 'l' && <Badge tone="neutral">{typeLabels[type]}</Badge>}
    </span>
  )
}
