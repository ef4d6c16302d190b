'use client'
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useSelectedLayoutSegment } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { Tabs } from '#components/ui/tabs.tsx'
import { visibleJson } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { type Axon, changeRefusal } from '#lib/contract/axons.ts'
import { AxonState } from './axon-state.tsx'
import { axonMutations, axonQueries } from './queries.ts'
import { axonsPath } from './search-params.ts'

const EditMetadataDialog = dynamic(async () => (await import('./edit-metadata-dialog.tsx')).EditMetadataDialog)

/** Header and tabs of an axon; `children` is the selected tab. */
export const AxonDetail = ({ id, children }: { id: string; children: ReactNode }) => (
  <DetailPage kind="axon" query={useQuery(axonQueries.get(id))}>
    {(axon) => (
      <>
        <Header axon={axon} />
        {children}
      </>
    )}
  </DetailPage>
)

const Header = ({ axon }: { axon: Axon }) => {
  const tab = useSelectedLayoutSegment() ?? 'overview'
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null)
  const { id, deleted_at_ms } = axon
  const close = () => setDialog(null)
  return (
    <>
      <PageHeader
        title={axon.name || 'Unnamed axon'}
        id={id}
        badge={<AxonState axon={axon} />}
        actions={
          <>
            <Button
              icon={Pencil}
              needs="axons.update"
              disabledReason={changeRefusal(axon)}
              onClick={() => setDialog('edit')}
            >
              Edit metadata
            </Button>
            <Button
              icon={Trash2}
              needs="axons.delete"
              disabledReason={changeRefusal(axon)}
              onClick={() => setDialog('delete')}
            >
              Delete axon
            </Button>
          </>
        }
      >
        <Tabs
          label="Axon"
          current={tab}
          tabs={[
            { id: 'overview', label: 'Overview', href: paths.axon(id) },
            { id: 'events', label: 'Events', href: paths.axon(id, 'events') },
            { id: 'sql', label: 'SQL', href: paths.axon(id, 'sql') },
          ]}
        />
      </PageHeader>
      {deleted_at_ms != null && (
        <Banner tone="neutral" icon={Trash2} title="This axon is deleted" className="mb-4 rounded-md">
          Deleted <RelativeTime ms={deleted_at_ms} />. It can be read but not changed.
        </Banner>
      )}
      {dialog === 'edit' && <EditMetadataDialog axon={axon} onClose={close} />}
      <DeleteDialog axon={axon} open={dialog === 'delete'} onOpenChange={(open) => setDialog(open ? 'delete' : null)} />
    </>
  )
}

/** Longer names are truncated, so that they don't push everything else off the page. */
const maxNameLength = 600

export const AxonOverview = ({ id }: { id: string }) => {
  const { data: axon } = useSuspenseQuery(axonQueries.get(id))
  const { name, metadata, created_at_ms, deleted_at_ms } = axon
  return (
    <>
      <Facts>
        <Fact label="Name">
          {name ? <VisibleText max={maxNameLength}>{name}</VisibleText> : <span className="text-muted">None</span>}
          {name && name.length > maxNameLength && (
            <p className="text-sm text-muted">
              {formatCount(name.length)} characters. The JSON below has the full name.
            </p>
          )}
        </Fact>
        <Fact label="Created">
          <RelativeTime ms={created_at_ms} />
        </Fact>
        <Fact label="Deleted">
          {deleted_at_ms == null ? <span className="text-muted">Never</span> : <RelativeTime ms={deleted_at_ms} />}
        </Fact>
        <Fact label="Metadata">
          <MetadataChips
            metadata={metadata}
            hrefFor={(key, value) => axonsPath({ metadata: [{ key, op: 'eq', value }] })}
            empty={<span className="text-muted">None</span>}
          />
        </Fact>
      </Facts>
      <section className="mt-6 max-w-4xl">
        <h2 className="mb-2 text-lg font-medium">Raw JSON</h2>
        <CommandBlock label="JSON" command={visibleJson(axon)} />
      </section>
    </>
  )
}

interface DeleteDialogProps {
  axon: Axon
  open: boolean
  onOpenChange: (open: boolean) => void
}

const DeleteDialog = ({ axon, open, onOpenChange }: DeleteDialogProps) => {
  const remove = useMutation(axonMutations.delete())
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => {
        onOpenChange(next)
        remove.reset()
      }}
      title="Delete this axon?"
      consequence="This can't be undone. Its name, metadata and events stay readable, and it is listed as deleted."
      needs="axons.delete"
      confirmLabel="Delete axon"
      typed={isTypeable(axon.name) ? axon.name : axon.id}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(axon.id, {
          onSuccess: () => {
            onOpenChange(false)
            toast.ok('Axon deleted')
          },
        })
      }
    />
  )
}

/** Whether the name is short and plain enough to be typed as a confirmation. */
const isTypeable = (name: string | null | undefined): name is string => /^[\w.:/-]{1,40}$/.test(name ?? '')
