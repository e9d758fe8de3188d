/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simgrid/oracle.h"

#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sg4 = simgrid::s4u;

/* Flows of the same cap and links share a route: from one host to another over a link of the cap and the shared ones. A link of the cap
 * shared by flows that never run at once is private to each. */
struct Platform {
	sg4::NetZone *zone;
	std::vector<const sg4::Link *> shared;
	std::map<std::tuple<double, int, int, int>, std::pair<sg4::Host *, sg4::Host *>> routes;

	std::pair<sg4::Host *, sg4::Host *> hosts_of(const flow &f)
	{
		auto &hosts = routes[{f.cap_Bps, f.links[0], f.links[1], f.links[2]}];
		if (hosts.first)
			return hosts;
		const std::string name = std::to_string(routes.size());
		hosts = {zone->create_host("from" + name, 1e9), zone->create_host("to" + name, 1e9)};
		auto *const cap = zone->create_link("cap" + name, f.cap_Bps);
		cap->set_latency(0)->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)->seal();
		std::vector<sg4::LinkInRoute> route{sg4::LinkInRoute(cap)};
		for (int link : f.links)
			if (link >= 0)
				route.emplace_back(shared[(size_t)link]);
		zone->add_route(hosts.first->get_netpoint(), hosts.second->get_netpoint(), nullptr, nullptr, route, false);
		return hosts;
	}
};

static Platform make_platform(const double *link_Bps, size_t n_links)
{
	Platform platform{sg4::create_full_zone("node"), {}, {}};
	for (size_t i = 0; i < n_links; i++) {
		auto *const link = platform.zone->create_link("link" + std::to_string(i), link_Bps[i]);
		link->set_latency(0)->seal();
		platform.shared.push_back(link);
	}
	return platform;
}

/* Starts a flow when the last that it follows has ended: a graph known to SimGrid from the start makes it quadratic. */
struct Runner {
	const flow *flows;
	double *end_s;
	std::vector<std::pair<sg4::Host *, sg4::Host *>> hosts;
	std::vector<std::vector<size_t>> followers;
	std::vector<int> n_open;
	std::unordered_map<const sg4::Activity *, std::pair<size_t, sg4::CommPtr>> running;

	void start(size_t i)
	{
		const sg4::CommPtr comm = sg4::Comm::sendto_init(hosts[i].first, hosts[i].second);
		running[comm.get()] = {i, comm};
		comm->set_payload_size((uint64_t)flows[i].bytes);
		comm->vetoable_start();
	}
	void end(const sg4::Activity &activity)
	{
		const auto found = running.find(&activity);
		const size_t i = found->second.first;
		end_s[i] = sg4::Engine::get_clock();
		const sg4::CommPtr keep = found->second.second;
		running.erase(found);
		for (size_t next : followers[i])
			if (--n_open[next] == 0)
				start(next);
	}
};

extern "C" void oracle_run(double *end_s, const struct flow *flows, size_t n_flows, const double *link_Bps, size_t n_links)
{
	const char *args[] = {"simgrid", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
	    "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0", "--cfg=surf/precision:1e-12",
	    "--cfg=maxmin/precision:1e-12", "--log=root.threshold:error"};
	int argc = sizeof args / sizeof *args;
	sg4::Engine engine(&argc, const_cast<char **>(args));
	Platform platform = make_platform(link_Bps, n_links);
	std::vector<std::pair<sg4::Host *, sg4::Host *>> hosts(n_flows);
	for (size_t i = 0; i < n_flows; i++)
		hosts[i] = platform.hosts_of(flows[i]);
	platform.zone->seal();
	Runner runner{flows, end_s, hosts, std::vector<std::vector<size_t>>(n_flows), std::vector<int>(n_flows), {}};
	for (size_t i = 0; i < n_flows; i++)
		for (long after : flows[i].after)
			if (after >= 0) {
				runner.followers[(size_t)after].push_back(i);
				runner.n_open[i]++;
			}
	sg4::Activity::on_completion_cb([&runner](const sg4::Activity &activity) { runner.end(activity); });
	for (size_t i = 0; i < n_flows; i++)
		if (flows[i].after[0] < 0 && flows[i].after[1] < 0)
			runner.start(i);
	engine.run();
}
