// Specs of every synchronization model, for the contract tests: a row of src/sync/builtin.def joins by having
// one here, and fails without.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace leeway {

inline std::map<std::string, std::vector<std::string>> SyncExamples() {
  return {{"asp", {"asp", "asp:scope=server"}},
          {"bounded", {"bounded:0", "bounded:d=3"}},
          {"bsp", {"bsp", "bsp:release=soft", "bsp:late=apply"}},
          {"drop", {"drop:1", "drop:3", "drop:n=3,release=soft", "drop:3,late=apply", "drop:9"}},
          {"dsps", {"dsps:0,4,2", "dsps:1,8,3,release=soft"}},
          {"dssp", {"dssp:0,4", "dssp:1,8", "dssp:1,8,release=soft"}},
          {"psp",
           {"psp:3,0", "psp:2,0.005", "psp:c=3,tau_ms=0.002,late=apply", "psp:3,0.002,release=soft",
            "psp:3,0,ahead=sum", "psp:2,0.002,ahead=sum,late=apply"}},
          {"pssp",
           {"pssp:1,0.5", "pssp:s=2,c=1", "pssp:0,alpha=0.8", "pssp:1,alpha=significance,release=soft",
            "pssp:1,0.5,scope=server"}},
          {"ssp", {"ssp:0", "ssp:3", "ssp:s=1,release=soft"}},
          {"ssptable", {"ssptable:0", "ssptable:2"}},
          {"when",
           {"when:pull=\"progress < v_train + s || rand > p\",push=\"count >= workers\",s=2,p=0.5",
            "when:pull=\"gap < 2\",push=\"count >= min(3, workers)\",release=soft", "when:push=\"1\"",
            "when:pull=\"1\",push=\"1\"", "when:pull=\"progress - slowest < 2 && fastest - slowest < 9\""}}};
}

}  // namespace leeway
