import { handleActivity } from '#lib/gateway/activity/activity.ts'

export const GET = (request: Request) => handleActivity(request)
