# Names: operate:pauseQueue queue
npx convex run --component conveyor operate:pauseQueue '{"queue":"emails"}'
