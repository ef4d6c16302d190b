import { handleActivity } from '#lib/gateway/activity/activity.ts'

export const dynamic = 'force-dynamic'

export const GET = (request: Request) => handleActivity(request)
