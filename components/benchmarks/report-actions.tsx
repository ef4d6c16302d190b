'use client'
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { benchmarkJobMutations } from '#lib/console/queries/benchmark-jobs.ts'
import type { ReportFormat } from '#lib/wire/reports.ts'

interface ReportActionsProps {
  /** What the numbers are, for file names and messages: `comparison`. */
  what: string
  /** Where the same numbers are, in each format. */
  address: (format: ReportFormat) => string
  /** There is nothing to copy before. */
  isThere: boolean
}

/** The numbers of a page for scripts, papers and chats. */
export const ReportActions = ({ what, address, isThere }: ReportActionsProps) => {
  const { result, copy } = useCopy(`the ${what}`)
  const read = useMutation(benchmarkJobMutations.readReport())
  return (
    <>
      {(['csv', 'json'] as const).map((format) => (
        <ButtonLink
          key={format}
          href={address(format)}
          prefetch={false}
          download={`${what}.${format}`}
          size="sm"
          variant="ghost"
          icon={Download}
        >
          {format.toUpperCase()}
        </ButtonLink>
      ))}
      <Button
        size="sm"
        busy={read.isPending}
        disabledReason={isThere ? null : `The ${what} is not there yet`}
        onClick={() =>
          read.mutate(address('md'), {
            // With the way back to its page, for whoever reads it in a chat.
            onSuccess: (markdown) => copy(`${markdown}\n<${location.href}>\n`),
            onError: (error) => toast.danger(`The ${what} was not copied`, { description: problemOf(error).message }),
          })
        }
      >
        {result === 'copied' ? 'Copied' : 'Copy as Markdown'}
      </Button>
    </>
  )
}
