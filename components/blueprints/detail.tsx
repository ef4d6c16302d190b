'use client'
import { useQuery } from '@tanstack/react-query'
import { Box, RotateCw, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useRouter, useSelectedLayoutSegment } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { Button } from '#components/ui/button.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { Tabs } from '#components/ui/tabs.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Blueprint, isBuilding } from '#lib/contract/blueprints.ts'
import { blueprintQueries } from './queries.ts'
import { BlueprintStatusBadge, BuildTime, deleteRefusal, newDevboxRefusal } from './status.tsx'

const CreateDevboxDialog = dynamic(
  async () => (await import('#components/devboxes/create/create-devbox-dialog.tsx')).CreateDevboxDialog,
)
const CreateBlueprintDialog = dynamic(
  async () => (await import('./create/create-blueprint-dialog.tsx')).CreateBlueprintDialog,
)
const DeleteBlueprintDialog = dynamic(async () => (await import('./delete-blueprint-dialog.tsx')).DeleteBlueprintDialog)

/** Header and tabs of a blueprint; `children` is the selected tab. */
export const BlueprintDetail = ({ id, children }: { id: string; children: ReactNode }) => (
  <DetailPage kind="blueprint" query={useQuery(blueprintQueries.get(id))}>
    {(blueprint) => (
      <>
        <Header blueprint={blueprint} />
        {children}
      </>
    )}
  </DetailPage>
)

const Header = ({ blueprint }: { blueprint: Blueprint }) => {
  const router = useRouter()
  const tab = useSelectedLayoutSegment() ?? 'overview'
  const [dialog, setDialog] = useState<'devbox' | 'rebuild' | 'delete'>()
  const { id, name, status } = blueprint
  const close = () => setDialog(undefined)
  return (
    <>
      <PageHeader
        title={name}
        id={id}
        badge={
          <span className="inline-flex flex-wrap items-center gap-1.5">
            <span role="status">
              <BlueprintStatusBadge blueprint={blueprint} />
            </span>
            {isBuilding(status) && (
              <span className="text-muted">
                <BuildTime blueprint={blueprint} />
              </span>
            )}
          </span>
        }
        actions={
          <>
            <Button
              icon={Box}
              variant="primary"
              needs="devboxes.create"
              disabledReason={newDevboxRefusal(blueprint)}
              onClick={() => setDialog('devbox')}
            >
              Create devbox
            </Button>
            <Button icon={RotateCw} needs="blueprints.create" onClick={() => setDialog('rebuild')}>
              Edit and rebuild
            </Button>
            <Button
              icon={Trash2}
              needs="blueprints.delete"
              disabledReason={deleteRefusal(blueprint)}
              onClick={() => setDialog('delete')}
            >
              Delete blueprint
            </Button>
          </>
        }
      >
        <Tabs
          label="Blueprint"
          current={tab}
          tabs={[
            { id: 'overview', label: 'Overview', href: paths.blueprint(id) },
            { id: 'log', label: 'Build log', href: paths.blueprint(id, 'log') },
          ]}
        />
      </PageHeader>
      {dialog === 'devbox' && <CreateDevboxDialog open blueprint={blueprint} onOpenChange={close} />}
      {dialog === 'rebuild' && <CreateBlueprintDialog open like={blueprint} onOpenChange={close} />}
      {dialog === 'delete' && (
        <DeleteBlueprintDialog
          blueprint={blueprint}
          onDeleted={() => router.push(paths.blueprints())}
          onClose={close}
        />
      )}
    </>
  )
}
