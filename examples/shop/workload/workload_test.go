package workload_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/workload"
)

func TestTasks(t *testing.T) {
	tasks, err := workload.Tasks()
	require.NoError(t, err)

	splits := map[string]int{}
	users := map[string]bool{}
	calls := map[workload.Effect]int{}
	for _, task := range tasks {
		splits[task.Split]++
		users[task.UserID] = true
		require.NotEmpty(t, task.ID)
		require.NotEmpty(t, task.Instruction)
		for _, action := range task.Actions {
			calls[action.Effect]++
			require.True(t, json.Valid(action.Arguments))
			require.NotEmpty(t, action.Expect.Result)
		}
	}
	require.Equal(t, map[string]int{"test": 76, "dev": 18, "train": 394}, splits)
	require.Len(t, users, 229)
	require.Equal(t, map[workload.Effect]int{workload.Write: 752, workload.Read: 211, workload.Pure: 9, workload.Handoff: 1}, calls)
}

func TestArgumentsAreKeptAsRecorded(t *testing.T) {
	tasks, err := workload.Tasks()
	require.NoError(t, err)
	require.Equal(t, `{"first_name":"Mei","last_name":"Kovacs","zip":"28236"}`, string(tasks[0].Actions[0].Arguments))
}

func TestContention(t *testing.T) {
	tasks, err := workload.Tasks()
	require.NoError(t, err)
	contention := workload.Contention(tasks)
	require.Len(t, contention, 188)
	require.Equal(t, []string{"retail-test-111", "retail-train-048"}, contention["orders/#W1092119"])
	require.Equal(t, []string{"retail-test-076", "retail-train-029", "retail-train-245", "retail-train-305"}, contention["orders/#W1242543"])
}

func TestSameJSON(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b string
		same bool
	}{
		{"order of keys", `{"a":1,"b":[2]}`, ` { "b": [2], "a": 1 } `, true},
		{"spelling of numbers", `[100, 1e2]`, `[100.0, 100]`, true},
		{"spelling of strings", `"A"`, `"\u0041"`, true},
		{"order of a list", `[1,2]`, `[2,1]`, false},
		{"another value", `{"a":1}`, `{"a":2}`, false},
		{"a key more", `{"a":1}`, `{"a":1,"b":null}`, false},
		{"a number and a string", `1`, `"1"`, false},
		{"not JSON", `order`, `order`, false},
		{"trailing text", `1`, `1 1`, false},
		{"nothing", ``, ``, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.same, workload.SameJSON([]byte(test.a), []byte(test.b)))
		})
	}
}
