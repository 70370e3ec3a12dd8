// A tool for agents as a NATS micro service in Go, with the client of NATS alone.
//
//	go run examples/services/roman.go nats://127.0.0.1:4222
//
// Statecast nodes on that server find the tool `roman_numeral` by its metadata and give it to agents that may use services.
// What is said on the wire: docs/reference/tools-as-services.md.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

type wish struct {
	Number int `json:"number"`
}

const schema = `{
	"type": "object",
	"properties": { "number": { "type": "integer", "minimum": 1, "maximum": 3999 } },
	"required": ["number"],
	"additionalProperties": false
}`

var digits = []struct {
	value int
	text  string
}{
	{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
}

func roman(number int) string {
	var text strings.Builder
	for _, digit := range digits {
		for ; number >= digit.value; number -= digit.value {
			text.WriteString(digit.text)
		}
	}
	return text.String()
}

func answer(request micro.Request) {
	var asked wish
	if err := json.Unmarshal(request.Data(), &asked); err != nil {
		_ = request.Error("400", err.Error(), nil)
		return
	}
	_ = request.RespondJSON(map[string]string{"roman": roman(asked.Number)})
}

func main() {
	url := nats.DefaultURL
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	service, err := micro.AddService(nc, micro.Config{Name: "roman", Version: "1.0.0", Description: "Roman numerals for agents"})
	if err != nil {
		log.Fatal(err)
	}
	err = service.AddEndpoint("roman_numeral", micro.HandlerFunc(answer), micro.WithEndpointSubject("statecast.tools.roman.numeral"), micro.WithEndpointMetadata(map[string]string{
		"description": "Writes a number from 1 to 3999 as a Roman numeral.",
		"schema":      schema,
		"onCrash":     "retry", // it changes nothing in the world, so it may run again when this process dies
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("roman serves statecast.tools.roman.numeral")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	_ = nc.Drain()
}
