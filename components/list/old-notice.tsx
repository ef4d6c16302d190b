import { Banner } from '#components/ui/banner.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'

interface OldNoticeProps {
  query: { isRefetchError: boolean; dataUpdatedAt: number; error: unknown }
}

/** Above what was read once and cannot be read again: how old it is, and why. */
export const OldNotice = ({ query: { isRefetchError, dataUpdatedAt, error } }: OldNoticeProps) =>
  isRefetchError && (
    <Banner tone="attention" role="status" className="mb-4 rounded-md" title="What is shown is old">
      It was read <RelativeTime ms={dataUpdatedAt} /> and could not be read since: {problemOf(error).message}
    </Banner>
  )
