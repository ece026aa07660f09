#include "cli/usage/watch.h"

#include <memory>

#include "cli/source.h"
#include "hewn/io/source_kind.h"

namespace hewn::cli {

Command watch_command() {
  const auto fields = std::make_shared<WatchFields>();
  Command command;
  command.name = "watch";
  command.help = "show a run while it trains, in a browser or in the terminal";
  command.example = "hewn watch runs/fashion-mnist-mlp-auto-b16-s0.9-seed0";
  command.positionals = {{"RUN", "run folder", &fields->run}};
  command.options.add("port", fields->server.port, "port of the page; 0: any that is free");
  command.options.add("host", fields->server.host, "address to listen on");
  command.options.add("allow-remote", fields->server.remote, "let other machines see the page");
  command.options.add("terminal", fields->terminal, "show it here instead, without a page");
  command.run = [fields](const Given& given) {
    source_kind("watch", fields->run, {io::SourceKind::kRun});
    return run_watch(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
