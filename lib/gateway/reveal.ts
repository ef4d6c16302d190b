import * as z from 'zod/mini'
import { idPattern } from '#lib/contract/common.ts'
import { readBodyOf, requireCaller } from './accounts/session-cookie.ts'
import { actorOf, withActivityRecord } from './activity/activity.ts'
import { HttpError, handleRequest, json } from './http/handle-request.ts'
import { logInfo } from './observability/log.ts'
import { readJob, valueAt } from './proxy/masking.ts'

const RevealRequest = z.object({
  job_id: z.string().check(z.regex(idPattern, 'must be the ID of a job')),
  pointer: z.array(z.union([z.string(), z.int()])).check(z.minLength(1), z.maxLength(20)),
})

/** `POST /api/reveal {"job_id", "pointer"}`: one masked value of a job, by its path of fields. */
export const revealValue = (request: Request): Promise<Response> =>
  handleRequest(request, async (requestId) => {
    const session = await requireCaller(request, 'write')
    const { data, error } = RevealRequest.safeParse(await readBodyOf(request))
    if (!data)
      throw new HttpError('invalid_argument', `${error.issues[0]?.path.join('.')} ${error.issues[0]?.message}`, {
        field: String(error.issues[0]?.path[0] ?? 'body'),
      })
    const { job_id, pointer } = data
    return withActivityRecord(
      actorOf(session, (name) => request.headers.get(name)),
      { operation: 'benchmarkJobs.reveal', subject: [job_id, ...pointer].join('/') },
      async () => {
        const value = valueAt(await readJob(session.api_key, job_id), pointer)
        if (value === undefined) throw new HttpError('not_found', 'The job has no such value')
        const { id } = session.account
        logInfo(`Request ${requestId}: revealed ${JSON.stringify(pointer)} of job ${job_id} to account ${id}`, {
          request_id: requestId,
        })
        return json({ value })
      },
    )
  })
