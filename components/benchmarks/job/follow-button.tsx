'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Bell, BellOff } from 'lucide-react'
import { alertMutations, alertQueries } from '#components/alerts/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { toast } from '#components/ui/toast.tsx'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'

/** A followed job raises an alert when it ends. */
export const FollowButton = ({ job: { id } }: { job: BenchmarkJob }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const follow = useMutation(alertMutations.followJob())
  const unfollow = useMutation(alertMutations.unfollowJob())
  const isFollowed = feed.followedJobs.includes(id)
  const change = isFollowed ? unfollow : follow
  return (
    <Button
      icon={isFollowed ? BellOff : Bell}
      busy={change.isPending}
      onClick={() =>
        change.mutate(id, {
          onError: toast.failed(isFollowed ? 'Could not unfollow the job' : 'Could not follow the job'),
        })
      }
    >
      {isFollowed ? 'Unfollow' : 'Follow'}
    </Button>
  )
}
