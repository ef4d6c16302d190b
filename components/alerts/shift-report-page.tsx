'use client'
import { useQuery } from '@tanstack/react-query'
import { Download, Printer } from 'lucide-react'
import * as z from 'zod/mini'
import { useAddress } from '#components/list/use-address.ts'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { useShownError } from '#components/ui/use-shown-error.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { alertPeriods } from '#lib/protocol/alert-period.ts'
import { shiftReportMarkdown } from '#lib/protocol/shift-report-markdown.ts'
import { PeriodFields } from './period-fields.tsx'
import { alertQueries, shiftReportAddress } from './queries.ts'
import { ShiftReportView } from './shift-report-view.tsx'

const Params = z.object({
  period: z.optional(z.enum(alertPeriods)),
  from_ms: z.optional(z.coerce.number().check(z.int())),
  to_ms: z.optional(z.coerce.number().check(z.int())),
})

export const ShiftReportPage = () => {
  const { view, settled, change } = useAddress({ schema: Params, path: paths.shiftReport })
  const query = useQuery(alertQueries.report(settled))
  const error = useShownError(query)
  const report = query.data
  const isDefault = view.from_ms === undefined && view.to_ms === undefined
  return (
    <>
      <PageHeader
        title="Shift report"
        actions={
          <>
            <ButtonLink href={paths.evictionHistory(view)}>History</ButtonLink>
            {report && <CopyButton what="Markdown" text={() => shiftReportMarkdown(report)} />}
            <ButtonLink icon={Download} href={shiftReportAddress(settled, 'markdown')} prefetch={false} download>
              Download Markdown
            </ButtonLink>
            <Button icon={Printer} onClick={() => print()}>
              Print
            </Button>
          </>
        }
      />
      <search className="mb-4 flex flex-wrap items-start gap-2">
        <PeriodFields
          value={isDefault ? { period: view.period ?? '12h' } : view}
          onChange={(period) => change(period, 'push')}
        />
      </search>
      {report ? (
        <ShiftReportView report={report} />
      ) : error ? (
        <ErrorState title="The report could not be loaded" error={error} query={query} />
      ) : (
        <SkeletonRows rows={8} columns={3} label="Loading report" />
      )}
    </>
  )
}
