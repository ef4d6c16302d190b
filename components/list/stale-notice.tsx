import { Banner } from '#components/ui/banner.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toServiceTime } from '#lib/client/clock.ts'

interface StaleNoticeProps {
  query: { isRefetchError: boolean; dataUpdatedAt: number; error: unknown }
}

export const StaleNotice = ({ query: { isRefetchError, dataUpdatedAt, error } }: StaleNoticeProps) =>
  isRefetchError && (
    <Banner tone="attention" role="status" className="mb-4 rounded-md" title="This data is out of date">
      Last updated <RelativeTime ms={toServiceTime(dataUpdatedAt)} />. {problemOf(error).message}
    </Banner>
  )
