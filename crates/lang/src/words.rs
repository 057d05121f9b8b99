//! Words of pages and messages in every language. A word that lacks a language does not compile.
//!
//! Not here: states, rule ids, kinds and whatever else machines say. Those are the same everywhere, so that what people read on a page
//! is what they find in the ledger. Nor what agents, people and policies wrote: that keeps its own language.

/// A language that pages are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lang {
    #[default]
    En,
    Fr,
}

impl Lang {
    pub const ALL: &[Self] = &[Self::En, Self::Fr];

    /// As HTML and browsers name it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Fr => "fr",
        }
    }

    /// What the language calls itself.
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Fr => "Français",
        }
    }

    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|lang| lang.code() == code)
    }

    /// The first language of `Accept-Language` that there is: browsers list what their person prefers first.
    pub fn accepted(header: &str) -> Self {
        let codes = header.split(',').filter_map(|part| part.split([';', '-']).next());
        codes.filter_map(|code| Self::parse(&code.trim().to_ascii_lowercase())).next().unwrap_or_default()
    }
}

macro_rules! words {
    ($($name:ident: $en:literal, $fr:literal;)*) => {
        impl Lang {
            $(pub const fn $name(self) -> &'static str {
                match self {
                    Self::En => $en,
                    Self::Fr => $fr,
                }
            })*
        }

        #[cfg(test)]
        const WORDS: &[(&str, &str, &str)] = &[$((stringify!($name), $en, $fr)),*];
    };
}

words! {
    // Around every page.
    skip: "Skip to the content", "Aller au contenu";
    navigation: "Pages", "Pages";
    nav_inbox: "Inbox", "À décider";
    nav_runs: "Runs", "Exécutions";
    nav_decisions: "Decisions", "Décisions";
    nav_orders: "Orders", "Consignes";
    nav_agents: "Agents", "Agents";
    nav_workers: "Workers", "Exécutants";
    nav_policy: "Policy", "Règles";
    nav_ledger: "Ledger", "Registre";
    nav_settings: "Settings", "Réglages";
    nav_help: "Help", "Aide";
    leave: "Sign out", "Se déconnecter";
    live: "Live", "En direct";
    colon: ": ", " : ";
    semicolon: "; ", " ; ";
    something_waits: "Something else stands here now. Look again", "Autre chose est là maintenant. Regardez à nouveau";
    offline: "Not live: reload to see what is new", "Hors direct : rechargez pour voir du nouveau";
    all_stopped: "Everything is stopped", "Tout est arrêté";
    safe_mode: "Safe mode: only what looks goes on", "Mode sûr : seule la lecture continue";
    language: "Language", "Langue";

    // Coming in.
    sign_in: "Sign in", "Se connecter";
    name: "Name", "Nom";
    password: "Password", "Mot de passe";
    current_password: "Current password", "Mot de passe actuel";
    new_password: "New password", "Nouveau mot de passe";
    password_rule: "At least 12 characters. A sentence is easier to remember than signs.", "Au moins 12 caractères. Une phrase se retient mieux que des signes.";
    set_password: "Set password", "Définir le mot de passe";
    no_password_yet: "No password yet? Ask for a one-time link: an administrator makes one, or you do with your token:", "Pas encore de mot de passe ? Demandez un lien à usage unique : un administrateur en crée un, ou vous-même avec votre jeton :";
    wrong_password: "The name or the password is not right.", "Le nom ou le mot de passe n'est pas correct.";
    too_many_tries: "Too many tries. Wait a minute.", "Trop d'essais. Attendez une minute.";
    link_opens_once: "This link lets you in once. Use it only if you asked for it.", "Ce lien vous laisse entrer une seule fois. Ne l'utilisez que si vous l'avez demandé.";
    link_is_spent: "This link was used, or its time is over. Ask for a new one.", "Ce lien a déjà servi ou a expiré. Demandez-en un nouveau.";
    not_in: "You are not signed in, so nothing was decided. Sign in, look again and decide.", "Vous n'êtes pas connecté : rien n'a été décidé. Connectez-vous, regardez à nouveau et décidez.";
    come_in: "Come in", "Entrer";
    sign_on_by: "Sign in with", "Se connecter avec";
    provider_lets_nobody_in: "The provider did not let you in, or nobody here goes by that name. Try again, or ask an administrator.", "Le fournisseur ne vous a pas laissé entrer, ou personne ici ne porte ce nom. Réessayez, ou demandez à un administrateur.";

    // Passkeys.
    passkeys: "Passkeys", "Clés d'accès";
    passkeys_hint: "A passkey lets you in, and signs what you approve where two people are asked: whoever reads the ledger can check later that it was you.", "Une clé d'accès vous laisse entrer et signe ce que vous approuvez quand deux personnes sont consultées : quiconque lit le registre peut vérifier ensuite que c'était vous.";
    passkeys_of_others: "Passkeys of others", "Clés d'accès des autres";
    passkeys_demanded: "Passkeys where two people are asked", "Clés d'accès quand deux personnes sont consultées";
    passkeys_are_demanded: "Nobody approves without one:", "Personne n'approuve sans clé :";
    demand_hint: "Demanded of everybody, nobody approves what takes two people without a passkey. Otherwise only those sign who have one.", "Si elles sont exigées, personne n'approuve sans clé d'accès ce qui demande deux personnes. Sinon, seuls signent ceux qui en ont une.";
    demand_passkeys: "Demand passkeys of everybody", "Exiger une clé de tous";
    release_passkeys: "Demand them no longer", "Ne plus les exiger";
    passkey_name: "What you call it", "Comment vous l'appelez";
    add_passkey: "Add a passkey", "Ajouter une clé d'accès";
    remove: "Remove", "Retirer";
    sign_in_by_passkey: "Sign in with a passkey", "Se connecter avec une clé d'accès";
    passkey_failed: "No passkey answered. Nothing was changed; try again.", "Aucune clé n'a répondu. Rien n'a été modifié ; réessayez.";
    passkey_is_not_known: "This passkey is not known here.", "Cette clé d'accès n'est pas connue ici.";
    passkey_needs_script: "Passkeys need JavaScript: only a script can ask a browser for one. Everything else works without.", "Les clés d'accès exigent JavaScript : seul un script peut en demander une au navigateur. Tout le reste s'en passe.";
    passkey_elsewhere: "Browsers know passkeys by a name, not by a number. Open this page at", "Les navigateurs lient les clés d'accès à un nom, pas à un nombre. Ouvrez cette page à l'adresse";
    passkey_needs_fresh_visit: "A first passkey is added within ten minutes of signing in by a link or a password. Sign out and in again.", "Une première clé s'ajoute dans les dix minutes suivant la connexion par un lien ou un mot de passe. Reconnectez-vous.";
    passkey_signs_the_next: "Your browser asks twice: for the new passkey, and for one that you have, which signs that it is added.", "Votre navigateur demande deux fois : la nouvelle clé, puis une clé que vous avez, qui signe cet ajout.";
    passkey_of_elsewhere: "Your passkeys were made at another address. Sign this there.", "Vos clés d'accès ont été créées à une autre adresse. Signez ceci là-bas.";
    door_needs_passkey: "Whoever has passkeys keeps them: this is signed with a passkey of yours. Add one above. If nobody has one, they are ended on the host, while no control plane runs, by", "Qui a des clés d'accès les garde : ceci se signe avec une clé à vous. Ajoutez-en une ci-dessus. Si personne n'en a, elles se retirent sur l'hôte, serveur arrêté, par";
    has_passkeys: "has passkeys", "a des clés d'accès";
    make_token: "New token", "Nouveau jeton";
    token_made: "The new token, shown this once. Every other way in of theirs is closed, passkeys too.", "Le nouveau jeton, montré une seule fois. Tous ses autres accès sont fermés, clés comprises.";
    you_sign_it: "You sign this with your passkey.", "Vous signez ceci avec votre clé d'accès.";
    you_need_a_passkey: "This is approved with a passkey, and you have none yet.", "Ceci s'approuve avec une clé d'accès, et vous n'en avez pas encore.";
    signed_by_passkey: "signed with a passkey", "signé avec une clé d'accès";

    // The inbox.
    nothing_waits: "Nothing waits for you.", "Rien ne vous attend.";
    nothing_waits_hint: "What an agent proposes and the policy asks you about appears here. Start a run:", "Ce qu'un agent propose et que les règles vous soumettent apparaît ici. Lancez une exécution :";
    actions_waiting: "Actions", "Actions";
    runs_waiting: "Runs that stand still", "Exécutions à l'arrêt";
    filter_all: "All", "Tout";
    filter_tier: "Tier", "Niveau";
    log_of_agent: "What its agent says", "Ce que dit son agent";
    log_of_program: "What its program says", "Ce que dit son programme";
    log_is_no_evidence: "As it is said, a line when it is whole, without secrets. This is no evidence: only the newest is kept, in memory, and a restart forgets it.", "Au fil de l'eau, chaque ligne une fois entière, sans les secrets. Ce n'est pas une preuve : seul le plus récent est gardé, en mémoire, et un redémarrage l'oublie.";
    log_whole: "Everything that is kept", "Tout ce qui est gardé";
    log_began: "started again", "redémarré";
    log_silent: "Nothing was said yet.", "Rien n'a encore été dit.";
    log_ended: "It has ended.", "C'est terminé.";
    log_is_evidence_now: "What it said is evidence now.", "Ce qu'il a dit est désormais une preuve.";
    uninspectable_output: "No text that can be shown here; fetch it below.", "Aucun texte qui puisse être montré ici ; récupérez-le plus bas.";
    checkpoint_after: "then a checkpoint", "puis un point de contrôle";
    rehearsed_ones: "Only rehearsed", "Seulement répétées";
    rehearsed_now: "Nothing of it was done. Look at each and say whether it is to be done; what you leave is not.", "Rien n'en a été fait. Regardez chacune et dites si elle doit l'être ; ce que vous laissez ne le sera pas.";
    rehearsed_later: "Nothing of it was done. You decide on each when the run has its results.", "Rien n'en a été fait. Vous déciderez de chacune quand l'exécution aura ses résultats.";
    expires: "expires", "expire";
    next_ones: "The next ones", "Les suivantes";
    ones_before: "Back", "Retour";
    all_of_them: "All of them", "Toutes";
    interrupted_ones: "Interrupted: say what becomes of them", "Interrompues : dites ce qu'il en advient";
    filter_interrupted: "Interrupted", "Interrompues";
    others_decide: "Waits for others", "En attente d'autres personnes";
    others_decide_hint: "You said yes already, stand behind it yourself, or somebody else was asked to look.", "Vous avez déjà dit oui, c'est le vôtre, ou quelqu'un d'autre doit y regarder.";
    named_for_you: "For you", "Pour vous";
    set_aside: "Set aside", "Mis de côté";
    set_aside_hint: "Back by itself when its time comes. It runs out no later for that.", "De retour d'elle-même à l'heure dite. Son délai n'en est pas prolongé.";
    for_you_by: "for you, by", "pour vous, de la part de";
    looks_at_it: "looks at it", "y regarde";
    asked_by: "asked by", "à la demande de";
    aside_by_you: "you set it aside until", "vous l'avez mise de côté jusqu'au";
    aside_by: "set it aside until", "l'a mise de côté jusqu'au";
    attention: "Who looks at it, and when", "Qui y regarde, et quand";
    attention_rule: "This changes nobody's rights and no deadline. Agents are not told.", "Cela ne change les droits de personne ni aucun délai. Les agents n'en savent rien.";
    assign_to: "Who should look at it", "Qui devrait y regarder";
    assign_nobody: "nobody in particular", "personne en particulier";
    assign_note: "What they should know (one line)", "Ce qu'il faut savoir (une ligne)";
    assign: "Ask them", "Demander";
    defer_minutes: "For how many minutes", "Pendant combien de minutes";
    defer: "Set aside for me", "Mettre de côté pour moi";
    defer_back: "Bring it back", "La remettre en place";
    none_of_these: "Nothing of this kind waits.", "Rien de ce genre n'attend.";
    all_projects: "All projects", "Tous les projets";
    you_approved: "You approved", "Vous avez approuvé";
    identical_actions: "identical actions:", "actions identiques :";
    you_rejected: "You rejected", "Vous avez rejeté";
    you_amended: "You put something else in the place of", "Vous avez remplacé";
    you_resolved: "You settled", "Vous avez réglé";
    more_needed: "another yes is needed", "un autre oui est nécessaire";
    choose_left: "Choose something on the left.", "Choisissez un élément à gauche.";
    keys_hint: "j k move · a approve · r reject · ? all keys", "j k parcourir · a approuver · r rejeter · ? toutes les touches";
    plan_waits: "Plan to approve", "Plan à approuver";
    checkpoint_waits: "Checkpoint", "Point de contrôle";
    results_wait: "Results to accept", "Résultats à accepter";
    interrupted_waits: "Interrupted: nobody knows how far it got", "Interrompue : nul ne sait jusqu'où elle est allée";
    broke_worker: "Worker", "Exécutant";
    broke_attempt: "Attempt", "Tentative";
    broke_began: "It began", "Début";
    broke_heard: "Last heard of", "Dernier signe";
    broke_worked: "at it for", "à l'ouvrage pendant";
    broke_lost: "Given up waiting", "Attente abandonnée";
    broke_decide: "What becomes of it", "Ce qu'il en advient";
    wish_waits: "Asks for more of the network", "Demande plus de réseau";

    // The card.
    tier_a: "passes", "passe";
    tier_b: "one person", "une personne";
    tier_c: "two people", "deux personnes";
    tier_d: "refused", "refusée";
    proposed: "proposed", "propose";
    why_asked: "Why you are asked", "Pourquoi on vous le demande";
    why_asked_then: "Why people were asked", "Pourquoi des personnes ont été consultées";
    why_passed: "Why nobody is asked", "Pourquoi on ne demande à personne";
    why_passed_then: "Why nobody was asked", "Pourquoi personne n'a été consulté";
    why_refused: "Why it is refused", "Pourquoi c'est refusé";
    risk: "Risk", "Risque";
    rule: "rule", "règle";
    blast_radius: "What it can touch", "Ce qu'elle peut toucher";
    could_touch: "What it could touch", "Ce qu'elle pouvait toucher";
    would_touch: "What it would have touched", "Ce qu'elle aurait touché";
    files: "Files", "Fichiers";
    leaves: "Leaves", "Laisse";
    reaches: "Reaches", "Atteint";
    uses: "Uses the team's credential", "Utilise l'identifiant de l'équipe";
    nobody: "nobody", "personne";
    nothing: "nothing", "rien";
    reversible: "Can be taken back", "Réversible";
    yes_snapshot: "yes, to snapshot", "oui, jusqu'à l'instantané";
    not_reversible: "no: nothing was saved", "non : rien n'a été enregistré";
    not_outside: "files yes, what others saw no", "les fichiers oui, ce que d'autres ont vu non";
    budget_so_far: "Budget so far", "Budget jusqu'ici";
    no_budget: "no budget set", "aucun budget fixé";
    cost: "Cost", "Coût";
    exactly_what: "Exactly what will run", "Exactement ce qui sera exécuté";
    what_would: "What would have run", "Ce qui aurait été exécuté";
    what_runs: "Exactly what runs now", "Exactement ce qui s'exécute";
    what_began: "Exactly what began to run", "Exactement ce qui a commencé à s'exécuter";
    what_ran: "Exactly what ran", "Exactement ce qui a été exécuté";
    program: "program", "programme";
    argument: "argument", "argument";
    environment: "environment", "environnement";
    cage: "cage", "cage";
    no_network: "no network", "pas de réseau";
    at_most: "at most", "au plus";
    target: "target", "cible";
    sealed_as: "sealed as", "scellée sous";
    given_files: "Files it is given", "Fichiers fournis";
    uninspectable: "Uninspectable: these bytes are no text. Only their digest is approved.", "Non inspectable : ces octets ne sont pas du texte. Seule leur empreinte est approuvée.";
    too_large: "Too large to show whole; the beginning is shown. Get all of it:", "Trop grand pour être montré en entier ; voici le début. Tout obtenir :";
    unread: "Not shown here; read it before you approve:", "Non affiché ici ; lisez-le avant d'approuver :";
    withheld: "Only reviewers see this before it is let out.", "Seuls les relecteurs voient ceci avant sa sortie.";
    within_scope: "within the scope", "dans le périmètre";
    protected: "protected", "protégé";
    outside_scope: "outside the scope", "hors du périmètre";
    whole_file: "The whole file", "Le fichier entier";
    removed_bytes: "These bytes were removed after their time.", "Ces octets ont été retirés après leur délai.";
    changed_since: "Changed since the run last had it", "Modifié depuis la dernière version de l'exécution";
    agent_says: "The agent says", "L'agent dit";
    agent_says_untrusted: "Untrusted: not part of what you approve", "Non fiable : ne fait pas partie de ce que vous approuvez";
    history: "Decisions on this tool in this project, last 30 days", "Décisions sur cet outil dans ce projet, 30 derniers jours";
    approved_n: "approved", "approuvées";
    rejected_n: "rejected", "rejetées";
    never_before: "first use: nobody has decided on this tool here", "première utilisation : personne n'a encore décidé de cet outil ici";
    rehearsal: "Simulated: it is only rehearsed now. You decide at the results whether it is done.", "Simulation : elle est seulement répétée. Vous déciderez aux résultats si elle est exécutée.";
    policy_version: "by the policy of version", "selon les règles de version";
    who_can: "Who can decide:", "Peuvent décider :";
    nobody_can: "nobody who is registered here", "personne qui soit enregistré ici";
    who_cannot: "not, because they stand behind the agent or changed its proposal:", "pas, car derrière l'agent ou sa proposition modifiée :";
    held_for_this: "held for this one:", "réservé pour celle-ci :";
    folded_card: "This card is long: here is only its beginning. What you decide on is the whole of it.", "Cette carte est longue : voici seulement son début. Votre décision porte sur le tout.";
    read_whole: "Read the whole card and decide there", "Lire la carte entière et y décider";
    odd_text: "Contains characters that hide or imitate others; they are marked.", "Contient des caractères qui en cachent ou en imitent d'autres ; ils sont marqués.";
    looks_like: "imitates Latin letters", "imite des lettres latines";
    unseen_run: "characters that nobody sees, counted", "caractères que personne ne voit, comptés";
    right_to_left: "written from right to left, shown as it is stored", "écrit de droite à gauche, montré comme il est stocké";
    long_line: "long line, folded", "longue ligne, repliée";

    // Files that somebody has seen.
    mark_seen: "Mark as seen", "Marquer comme vu";
    unmark_seen: "Not seen yet", "Pas encore vu";
    seen_by_you: "seen by you", "vu par vous";
    files_seen: "files seen", "fichiers vus";

    // How people are told.
    routes: "How people are told", "Comment les personnes sont prévenues";
    no_routes: "Nobody is told anything; placet.toml says by whom and how.", "Personne n'est prévenu ; placet.toml dit par où et comment.";
    route_leads_to: "leads to", "mène à";
    route_does: "how it does", "comment elle va";
    route_last: "last message taken", "dernier message pris";
    route_quiet: "nothing was taken since Placet started", "rien n'a été pris depuis le démarrage";
    route_failing: "takes nothing since", "ne prend rien depuis";
    send_test: "Send a test", "Envoyer un essai";
    tested: "Test", "Essai";
    test_taken: "taken", "pris";
    test_not_taken: "not taken:", "non pris :";
    test_under_way: "under way; look again", "en cours ; regardez à nouveau";

    // Deciding.
    decide: "Decide", "Décider";
    approve: "Approve", "Approuver";
    approve_once: "Approve once", "Approuver une fois";
    looks_approved: "Not the same as what was approved before in this run: its files have other contents than those of", "Pas la même que celle approuvée plus tôt dans cette exécution : ses fichiers ont un autre contenu que ceux de";
    amended_by: "What a reviewer made of the agent's proposal", "Ce qu'un relecteur a fait de la proposition de l'agent";
    everything_bound: "Everything that you approve", "Tout ce que vous approuvez";
    reject: "Reject", "Rejeter";
    amend: "Change and approve", "Modifier et approuver";
    amend_hint: "What you change is sealed and judged anew. The agent reads your reason.", "Ce que vous changez est scellé et jugé à nouveau. L'agent lit votre raison.";
    arguments_lines: "Arguments, one on each line", "Arguments, un par ligne";
    environment_lines: "Environment, NAME=value on each line", "Environnement, NOM=valeur par ligne";
    target_of_it: "Target", "Cible";
    text_of_file: "Text of", "Texte de";
    leave_file_out: "Leave it out of the action", "Ne pas le donner à l'action";
    edit_on_card: "The text of its files is changed on the whole card", "Le texte de ses fichiers se modifie sur la fiche entière";
    edit_at_terminal: "Change it at a terminal:", "À modifier dans un terminal :";
    unfit_no_text: "It is no text.", "Ce n'est pas du texte.";
    unfit_large: "It is more than a form has room for.", "C'est plus qu'un formulaire ne peut contenir.";
    unfit_tricky: "It has characters that hide or imitate others.", "Il a des caractères qui en cachent ou en imitent d'autres.";
    unfit_ends: "Its lines end in different ways, and a form would make them the same.", "Ses lignes finissent de plusieurs façons, qu'un formulaire rendrait égales.";
    unfit_words: "Not here: one of them is empty, has several lines, or has characters that hide or imitate others.", "Pas ici : l'un est vide, a plusieurs lignes, ou des caractères qui en cachent ou en imitent d'autres.";
    form_too_long: "This is more than a form takes. Make it shorter, or do it at a terminal: placet approve ID --edit", "C'est plus qu'un formulaire ne prend. Raccourcissez, ou faites-le dans un terminal : placet approve ID --edit";
    not_taken: "What you made of it was not taken", "Ce que vous en avez fait n'a pas été pris";
    still_written: "What you wrote still stands below", "Ce que vous avez écrit est encore plus bas";
    waits_for_another: "It is riskier than what was proposed, so whoever changed it does not count: it waits for another person.", "C'est plus risqué que ce qui était proposé, et qui l'a modifié ne compte pas : une autre personne doit décider.";
    waits_for_more: "The yes of whoever changed it counts; it still waits for another person.", "L'accord de qui l'a modifié compte ; une autre personne doit encore décider.";
    timeout_seconds: "Time limit, seconds", "Limite de temps, secondes";
    reason: "Reason", "Raison";
    reason_needed: "Reason (the agent reads it)", "Raison (l'agent la lit)";
    reason_to_reject: "Why you reject it (the agent reads it)", "Pourquoi vous rejetez (l'agent le lit)";
    decide_before: "decide before", "décider avant";
    then_refused: "then it is refused", "ensuite elle est refusée";
    approvals: "Approvals", "Approbations";
    you_cannot: "You cannot decide this", "Vous ne pouvez pas décider ceci";
    retry: "Run it again", "Relancer";
    abandon: "Give it up", "Abandonner";
    perform: "Have it done", "La faire exécuter";
    type_to_confirm: "Two people are needed. To approve, type the tool's name:", "Deux personnes sont requises. Pour approuver, tapez le nom de l'outil :";

    said_yes: "said yes", "a dit oui";
    of_approvals: "of", "sur";
    agreed_alone: "alone, as the person behind the agent", "seul, en tant que personne derrière l'agent";
    works_alone: "One person works alone here: whoever is behind the agent may approve tier B, and that is recorded.", "Une seule personne travaille ici : qui est derrière l'agent peut approuver le niveau B, et c'est enregistré.";
    decides_fast: "You have decided a lot in a short time. Take a break, or look twice: for a while everything that you let happen takes a name.", "Vous avez beaucoup décidé en peu de temps. Faites une pause, ou regardez deux fois : pour un moment, tout ce que vous laissez se faire demande un nom.";
    type_to_slow: "Look twice. To let it happen, type the tool's name:", "Regardez deux fois. Pour le laisser se faire, tapez le nom de l'outil :";
    type_agent_to_slow: "Look twice. To let it happen, type the agent's name:", "Regardez deux fois. Pour le laisser se faire, tapez le nom de l'agent :";

    // How people decide.
    last_30_days: "last 30 days", "30 derniers jours";
    decisions_hint: "How long questions wait and how they end. Where two people are asked each yes counts by itself, the first one too while the second is missing. There are no names here.", "Combien de temps les questions attendent et comment elles finissent. Quand deux personnes sont consultées, chaque oui compte, le premier même si le second manque encore. Aucun nom ici.";
    only_actions_counted: "Of all people, and actions alone. The number beside the inbox also counts runs that stand still and what was interrupted, of all that only what you can decide, and leaves out what you set aside.", "De toutes les personnes, et les actions seules. Le nombre à côté de « À décider » compte aussi les exécutions à l'arrêt et les actions interrompues, mais seulement ce que vous pouvez décider, et pas ce que vous avez mis de côté.";
    how_you_decide: "How you decide", "Comment vous décidez";
    only_you: "Only you see this page. How long you looked is forgotten after 30 days and is in no ledger.", "Vous seul voyez cette page. Le temps de votre regard est oublié après 30 jours et n'est dans aucun registre.";
    only_newest: "There were more decisions than are counted here; these are the newest.", "Il y a eu plus de décisions que celles comptées ici ; voici les plus récentes.";
    no_figures: "Nothing was decided yet.", "Rien n'a encore été décidé.";
    unknown: "unknown", "inconnu";
    median_wait: "Half are decided within", "La moitié décidée en";
    p90_wait: "Nine of ten within", "Neuf sur dix en";
    amended_n: "changed", "modifiées";
    expired_n: "expired", "expirées";
    withdrawn_n: "taken back", "retirées";
    single_operator_n: "approved alone", "approuvées seul";
    wait_over_time: "How long questions waited, day by day", "Attente des questions, jour par jour";
    queue_age: "How old is what waits now", "Âge de ce qui attend";
    oldest: "the oldest for", "la plus ancienne depuis";
    outcomes_per_week: "How questions ended, week by week", "Issue des questions, semaine par semaine";
    week_from: "Week from", "Semaine du";
    by_tier: "By tier", "Par niveau";
    under_5_minutes: "under 5 minutes", "moins de 5 minutes";
    under_1_hour: "under 1 hour", "moins d'une heure";
    under_1_day: "under 1 day", "moins d'un jour";
    longer_than_a_day: "longer", "plus longtemps";
    decided_lately: "Decisions in the last minutes:", "Décisions des dernières minutes :";
    before_twice: "before you are asked to look twice", "avant qu'on vous demande de regarder deux fois";
    what_stands_out: "What stands out", "Ce qui ressort";
    longest_streak: "Longest row of approvals", "Plus longue suite d'approbations";
    no_signal: "Nothing stands out.", "Rien à signaler.";
    signal_never_no: "You approved everything. Does the policy ask you about too much?", "Vous avez tout approuvé. Les règles vous demandent-elles trop ?";
    approved_alone: "What you approved alone", "Ce que vous avez approuvé seul";
    approved_alone_hint: "As the person behind the agent. Each is marked in the ledger.", "En tant que personne derrière l'agent. Chacune est marquée dans le registre.";
    cpu_over_time: "Processor time of executions", "Temps processeur des exécutions";
    memory_over_time: "Most memory of each execution", "Mémoire maximale de chaque exécution";
    // Standing orders.
    order_give: "Approve this and its like…", "Approuver celle-ci et ses semblables…";
    order_hint: "You approve this action, and every later one of this run that is the same question: the same program, arguments, environment, target, network, cage and limits, asked about for the same reasons by the same policy. It ends at its time, after so many, with the run, with a rollback, with another policy, when somebody rejects an action of this tool, or when you revoke it.", "Vous approuvez cette action et toute action ultérieure de cette exécution qui pose la même question : même programme, mêmes arguments, environnement, cible, réseau, cage et limites, demandée pour les mêmes raisons par les mêmes règles. La consigne prend fin à son heure, après tant de fois, avec l'exécution, avec un retour en arrière, avec d'autres règles, quand quelqu'un rejette une action de cet outil, ou quand vous la révoquez.";
    order_beware: "What the program finds in the workspace or gets from others may be different each time, and nobody will look.", "Ce que le programme trouve dans l'espace de travail ou reçoit d'autrui peut différer à chaque fois, et personne ne regardera.";
    order_width: "What is the same", "Ce qui est identique";
    order_exact: "everything, the contents of files too", "tout, y compris le contenu des fichiers";
    order_contents: "everything but what stands in the files it writes", "tout sauf le contenu des fichiers qu'elle écrit";
    order_would_have: "Of this run it would have covered:", "Dans cette exécution, elle aurait couvert :";
    order_none_yet: "Nothing of this run so far would have been covered.", "Rien jusqu'ici dans cette exécution n'aurait été couvert.";
    order_was_rejected: "somebody rejected it", "quelqu'un l'a rejetée";
    order_minutes: "For so many minutes", "Pendant tant de minutes";
    order_times: "For so many more actions", "Pour tant d'autres actions";
    order_give_now: "Approve with this order", "Approuver avec cette consigne";
    you_gave_order: "you gave order", "vous avez donné la consigne";
    order_approved_by: "nobody looked at this one: approved by order", "personne n'a regardé celle-ci : approuvée par la consigne";
    order_used: "used", "utilisée";
    order_until: "until", "jusqu'à";
    order_given_by: "given by", "donnée par";
    orders: "Standing orders", "Consignes permanentes";
    orders_hint: "What people said yes to beforehand, in one run, so many times and until then. Whoever decides or operates can take it back at any time.", "Ce que des personnes ont approuvé d'avance, dans une exécution, tant de fois et jusqu'à telle heure. Qui décide ou opère peut la révoquer à tout moment.";
    no_orders: "No order stands.", "Aucune consigne en vigueur.";
    no_orders_hint: "One is given on an action that waits: open it, then “Approve this and its like…”.", "Une consigne se donne sur une action en attente : ouvrez-la, puis « Approuver celle-ci et ses semblables… ».";

    // What the steps of a run led to.
    declared_by_person: "declared by a person:", "déclaré par une personne :";
    held_for_it: "held for it:", "réservé pour elle :";
    likely: "likely", "sans doute";

    // What came of it.
    evidence: "Evidence", "Preuves";
    exit: "ended with", "fin";
    took: "took", "durée";
    download: "Download", "Télécharger";
    proof: "Proof", "Preuve d'inclusion";
    record: "Record", "Registre";

    // Runs.
    goal: "Goal", "But";
    agent: "Agent", "Agent";
    state: "State", "État";
    mode: "Mode", "Mode";
    since: "Since", "Depuis";
    steps: "Steps", "Étapes";
    no_runs: "No run yet.", "Aucune exécution.";
    no_runs_hint: "Plan one from what you want:", "Planifiez-en une à partir de ce que vous voulez :";
    plan: "Plan", "Plan";
    pipeline: "From intent to end", "De l'intention à la fin";
    step_done: "done", "fait";
    step_now: "now", "en cours";
    step_to_come: "to come", "à venir";
    person_decides: "a person decides", "une personne décide";
    time_at_work: "At work", "Au travail";
    tokens: "Tokens", "Jetons";
    actions: "Actions", "Actions";
    pages: "Pages", "Pages";
    disk: "Disk", "Disque";
    budget: "Budget", "Budget";
    actions_executed: "Actions executed", "Actions exécutées";
    actions_proposed: "Actions proposed", "Actions proposées";
    change_budget: "Change the budget", "Modifier le budget";
    budget_used_up: "The budget is used up. Give the run more, and it can go on.", "Le budget est épuisé. Augmentez-le pour que l'exécution puisse reprendre.";
    budget_totals: "Each number is the new total, not what is added.", "Chaque nombre est le nouveau total, et non un ajout.";
    save_budget: "Set budget", "Fixer le budget";
    resume_at_once: "Resume the run at once", "Reprendre l'exécution aussitôt";
    minutes_at_work: "At work, minutes", "Au travail, minutes";
    disk_megabytes: "Disk, MB", "Disque, Mo";
    what_it_did: "What ran, what it said, what it changed", "Ce qui a été exécuté, dit et modifié";
    made_no_evidence: "It left no evidence.", "Aucune preuve n'en est restée.";
    stop_asked: "Every run of every project stops at once, until an administrator lets it go on. Say why, then stop.", "Toutes les exécutions de tous les projets s'arrêtent aussitôt, jusqu'à ce qu'un administrateur les laisse reprendre. Dites pourquoi, puis arrêtez.";
    used: "used", "utilisé";
    held: "held", "réservé";
    of: "of", "sur";
    timeline: "Timeline", "Chronologie";
    lane_person: "waits for a person", "attend une personne";
    lane_action: "is executed", "est exécutée";
    lane_runtime: "is prepared", "se prépare";
    find_label: "Find actions, runs, agents", "Chercher des actions, exécutions, agents";
    find_hint: "An id or the number of an entry leads right there. Words are looked for in commands, names of files, goals and names of agents; the end of an id, as lists show it, is enough.", "Un identifiant ou le numéro d'une inscription y mène tout droit. Les mots sont cherchés dans les commandes, les noms de fichiers, les buts et les noms d'agents ; la fin d'un identifiant, comme les listes la montrent, suffit.";
    found_nothing: "Nothing of that was found.", "Rien de tel n'a été trouvé.";
    found_among: "Looked through:", "Parcouru :";
    tunnel: "a tunnel: neither requests nor whose account they use are seen", "un tunnel : on ne voit ni les requêtes ni au nom de qui elles sont faites";
    nobody_caged: "nobody: its cage has no network", "personne : sa cage n'a pas de réseau";
    given_with_plan: "The agent's own files", "Fichiers de l'agent lui-même";
    no_limit: "nothing is limited", "rien n'est limité";
    as_a_table: "As a table", "En tableau";
    what_it_is: "What", "Quoi";
    bar_spawn: "Start of the agent", "Démarrage de l'agent";
    bar_results: "Results", "Résultats";
    snapshots: "Snapshots", "Instantanés";
    no_snapshots: "Nothing was saved: a worker saves runs that it hosts.", "Rien n'a été enregistré : un exécutant enregistre les exécutions qu'il héberge.";
    roll_back: "Go back…", "Revenir…";
    outputs: "Outputs", "Sorties";
    audit: "Audit", "Audit";
    cost_over_time: "Cost, US dollars", "Coût, dollars";
    tokens_over_time: "Tokens", "Jetons";
    no_calls: "No model was called yet.", "Aucun modèle n'a encore été appelé.";
    pause: "Pause", "Mettre en pause";
    resume: "Resume", "Reprendre";
    cancel: "End it for good", "Terminer définitivement";
    start: "Start", "Démarrer";
    save_now: "Save it now", "Enregistrer maintenant";
    wishes: "Network it was refused", "Réseau refusé";
    allow_for: "Allow, minutes", "Autoriser, minutes";
    allow: "Allow", "Autoriser";
    revoke: "Revoke", "Révoquer";
    complete: "Accept the results", "Accepter les résultats";
    let_out: "Accept and let these out", "Accepter et laisser sortir ceux-ci";
    send_back: "Send back", "Renvoyer";
    steps_reported: "steps were reported as done", "étapes ont été déclarées faites";
    made_no_files: "It made no files.", "Elle n'a produit aucun fichier.";
    change_is_unsent: "You have changed something: approve that below «Change and approve», or take it back first.", "Vous avez modifié quelque chose : approuvez-le sous « Modifier et approuver », ou annulez d'abord.";

    asked_ones: "Asks people now", "Demande une décision";
    asks_more: "These are the oldest. All of them are in the inbox", "Voici les plus anciennes. Toutes sont dans la liste à décider";

    // What a run may do.
    frame: "What it may do", "Ce qu'elle peut faire";
    may_change: "May change", "Peut modifier";
    never_changes: "Never, whatever is allowed", "Jamais, quoi qui soit permis";
    may_reach: "May reach", "Peut atteindre";
    may_use: "May use", "Peut utiliser";
    scope_version: "scope, as locked", "périmètre verrouillé";
    asks_when: "People are asked", "Décident des personnes";
    mode_simulation: "about the plan, where the policy asks, and about the results; what others would notice is only rehearsed", "du plan, quand les règles le demandent, et des résultats ; ce que d'autres remarqueraient est seulement répété";
    mode_supervised: "about the plan, about every action and about the results", "du plan, de chaque action et des résultats";
    mode_checkpoint: "about the plan, at checkpoints, where the policy asks, and about the results", "du plan, aux points de contrôle, quand les règles le demandent, et des résultats";
    goes_how_far: "What becomes of actions", "Ce que deviennent les actions";
    effect_dry_run: "judged and recorded, never executed", "jugées et enregistrées, jamais exécutées";
    effect_observe: "only what changes nothing is executed", "seul ce qui ne change rien est exécuté";
    effect_execute: "executed, where nobody refuses", "exécutées, sauf refus";
    stands_still_when: "Stands still besides", "S'arrête en outre";
    stands_before: "before actions of kind", "avant les actions de genre";
    stands_passes: "goes on by itself if nobody looks for", "reprend d'elle-même si personne ne regarde pendant";
    may_call: "May call models", "Peut appeler les modèles";
    any_served_model: "those that the gateway serves", "ceux que sert la passerelle";

    // Checkpoints.
    stands_still: "It stands still until you decide", "À l'arrêt jusqu'à votre décision";
    summary: "Summary", "Résumé";
    done_since: "Done since the last look", "Fait depuis le dernier regard";
    comes_next: "What comes next", "La suite";
    screenshots: "Screenshots", "Captures d'écran";
    so_far: "So far", "Jusqu'ici";
    let_it_go_on: "Let it go on", "Laisser continuer";
    modify: "Let it go on otherwise", "Laisser continuer autrement";
    note_for_agent: "Note for the agent", "Note pour l'agent";
    other_steps: "Other steps instead of those that are left, one on each line", "D'autres étapes à la place de celles qui restent, une par ligne";
    longer: "There is more than is shown of:", "Il y a plus que ce qui est montré de :";
    nearly_used: "Nearly used up:", "Presque épuisé :";
    removed_inputs: "Removes", "Supprime";
    passes_at: "passes by itself at", "passe de lui-même à";
    decide_on_action: "It waits for an action: decide on that.", "Elle attend une action : décidez de celle-ci.";

    // Going back.
    rollback_title: "Go back to snapshot", "Revenir à l'instantané";
    rollback_hint: "Files, the agent's memory and the place in the plan return. What was spent stays spent; the record stays.", "Les fichiers, la mémoire de l'agent et la place dans le plan reviennent. Ce qui est dépensé le reste ; le registre reste.";
    would_change: "What would change", "Ce qui changerait";
    workspace: "Workspace", "Espace de travail";
    memory: "Agent's memory", "Mémoire de l'agent";
    drift: "Changed by people since, and left alone", "Modifié par des personnes depuis, et laissé tel quel";
    no_preview: "Its host has not answered yet. Reload in a moment.", "Son hôte n'a pas encore répondu. Rechargez dans un instant.";
    go_back_now: "Go back", "Revenir";

    // The ledger.
    entries: "Entries", "Entrées";
    one_action: "Action", "Action";
    one_run: "Run", "Exécution";
    find: "Find", "Chercher";
    kind_begins: "Kind, or how it begins", "Genre, ou son début";
    number_of_entry: "Number of an entry", "Numéro d'une entrée";
    rejected_share: "rejected of what people decided", "rejetées de ce que des personnes ont décidé";
    its_runs: "Its runs", "Ses exécutions";
    its_entries: "What it did, entry by entry", "Ce qu'elle a fait, entrée par entrée";
    entry: "Entry", "Entrée";
    ledger_hint: "Everything that happened, in the order in which it did. An entry never changes: what is signed covers all of them.", "Tout ce qui s'est passé, dans l'ordre. Une entrée ne change jamais : ce qui est signé les couvre toutes.";
    about: "About", "Sujet";
    heartbeats_hidden: "Heartbeats of workers are left out.", "Les signes de vie des exécutants ne sont pas montrés.";
    heartbeats_show: "Show them", "Les montrer";
    newest_head: "Newest signed head", "Dernière tête signée";
    entries_signed: "entries are covered by the signed root", "entrées sont couvertes par la racine signée";
    check_yourself_offline: "The signature, and how to check everything yourself, offline", "La signature, et comment tout vérifier vous-même, hors ligne";
    key: "key", "clé";
    event: "Event", "Événement";
    actor: "By", "Par";
    when: "When", "Quand";
    older: "Older", "Plus anciennes";
    newer: "Newer", "Plus récentes";
    inclusion: "It is in the ledger: hashed up from this entry, these siblings give the signed root.", "Elle est dans le registre : hachée depuis cette entrée, ces voisins donnent la racine signée.";
    not_proven: "These bytes do not lead to the signed root. Tell whoever operates this, and verify an export offline.", "Ces octets ne mènent pas à la racine signée. Prévenez l'opérateur, et vérifiez un export hors ligne.";
    check_yourself: "Check it yourself, offline:", "Vérifiez vous-même, hors ligne :";
    verified: "verified by this server", "vérifiée par ce serveur";
    leaf: "leaf", "feuille";

    // The policy.
    rules_in_force: "Rules in force", "Règles en vigueur";
    tools: "Tools", "Outils";
    demands: "Demands", "Exige";
    weight: "Weight", "Poids";
    because: "Because", "Parce que";
    version: "version", "version";
    what_if: "What would happen if", "Que se passerait-il si";
    what_if_hint: "Judges an action without proposing it. Nothing is recorded.", "Juge une action sans la proposer. Rien n'est enregistré.";
    in_frame: "In the frame of", "Dans le cadre de";
    no_grounds: "There is no scope yet in whose frame something could be tried: lock one first (`placet scope lock`).", "Il n'y a pas encore de périmètre dans lequel essayer : verrouillez-en un (`placet scope lock`).";
    files_lines: "Files it is given, one on each line: a path, or a path, its digest and its size", "Fichiers fournis, un par ligne : un chemin, ou un chemin, son empreinte et sa taille";
    outputs_lines: "Files it leaves, one on each line", "Fichiers laissés, un par ligne";
    network_lines: "Whom it reaches, one on each line", "Qui elle atteint, un par ligne";
    credentials_lines: "Credentials of the team that it uses, one on each line", "Accès de l'équipe utilisés, un par ligne";
    judge: "Judge", "Juger";
    not_judged: "Nothing was judged", "Rien n'a été jugé";
    what_you_wrote_stands: "What you wrote still stands below.", "Ce que vous avez écrit est encore plus bas.";
    to_the_field: "To the field", "Aller au champ";
    tools_there_are: "Tools there are:", "Les outils sont :";
    verdict: "Verdict", "Verdict";
    tool: "Tool", "Outil";
    kind: "Kind", "Genre";

    // Agents and workers.
    lineage: "Descends from", "Descend de";
    no_agents: "No agent yet.", "Aucun agent.";
    revoked: "revoked", "révoqué";
    roles: "Roles", "Rôles";
    last_seen: "Last heard of", "Dernier signe";
    never: "never", "jamais";
    worker_version: "Version", "Version";
    other_version: "another one than the control plane's", "autre que celle du serveur";
    worker_cage: "Cage", "Cage";
    machine: "Machine", "Machine";
    capacity_of: "of", "sur";
    not_declared: "It has not said what it is: it is older, or never started.", "Il n'a pas dit ce qu'il est : trop ancien, ou jamais démarré.";
    worker_claims: "What a worker says of itself is its own claim; nothing is decided by it.", "Ce qu'un exécutant dit de lui-même n'engage que lui ; rien n'en dépend.";
    every_layer_holds: "every layer holds", "chaque couche tient";
    not_enforced_there: "Not enforced there:", "Non garanti là-bas :";
    profiles: "Profiles", "Profils";
    output_missing: "was not made", "n'a pas été créé";
    output_is_link: "not taken: it is a symbolic link, or lies behind one", "non repris : c'est un lien symbolique, ou il se trouve derrière un lien";
    output_is_directory: "not taken: it is a directory", "non repris : c'est un dossier";
    output_is_special: "not taken: it is a FIFO, a socket or a device", "non repris : c'est un tube, une socket ou un périphérique";
    output_too_large: "not taken: it is too large", "non repris : il est trop volumineux";
    output_unreadable: "not taken: it cannot be read", "non repris : il est illisible";
    undone_outside_scope: "undone: it is outside of the scope", "annulé : il est hors du périmètre";
    other_than_here: "Not as here: what is approved for it is not started there.", "Pas comme ici : ce qui est approuvé pour lui n'y démarre pas.";
    executes_now: "What it executes now", "Ce qu'il exécute en ce moment";
    hosts_now: "What it hosts now", "Ce qu'il héberge en ce moment";
    holds_leases: "Executes now", "Exécute en ce moment";
    hosts_runs: "Hosts", "Héberge";
    no_workers: "No worker yet.", "Aucun exécutant.";
    health: "Health", "Santé";
    silent: "silent", "silencieux";
    well: "well", "en forme";

    // Settings.
    your_visits: "Where you are signed in", "Où vous êtes connecté";
    being_away: "Being away", "Absence";
    away_rule: "Somebody who decides here by their own rights is told what you would be told. No right changes hands.", "Quelqu'un qui décide ici de son propre droit est informé à votre place. Aucun droit ne change de mains.";
    stand_in: "Who is told instead", "Qui est informé à votre place";
    nobody_stands_in: "Nobody else here could stand in: it takes another person with a role that you decide with, who is not away.", "Personne d'autre ici ne peut vous remplacer : il faut une autre personne, présente, avec un rôle qui vous fait décider.";
    days_away: "For how many days", "Pendant combien de jours";
    go_away: "I am away", "Je m'absente";
    i_am_back: "I am back", "Je suis de retour";
    is_told_instead: "is told instead of you until", "est informé à votre place jusqu'à";
    you_stand_in_for: "You stand in for", "Vous remplacez";
    away_until: "away until", "absent jusqu'à";
    decided_already: "Decided already", "Déjà décidé";
    decided_meanwhile: "Decided meanwhile; what you write here will not be taken:", "Décidé entre-temps ; ce que vous écrivez ici ne sera pas pris :";
    decided_by: "by", "par";
    this_one: "this one", "celle-ci";
    ends: "ends", "expire";
    end_visit: "End", "Terminer";
    people: "People", "Personnes";
    make_link: "Make a one-time link", "Créer un lien à usage unique";
    link_made: "One-time link, good for an hour. It is shown only now:", "Lien à usage unique, valable une heure. Il n'est affiché que maintenant :";
    stop_everything: "Stop everything", "Tout arrêter";
    let_go_on: "Let everything go on", "Tout laisser continuer";
    the_switch: "The switch", "L'interrupteur";
    switch_hint: "Stops everything in all projects at once, until an administrator lets it go on.", "Arrête aussitôt tout, dans tous les projets, jusqu'à ce qu'un administrateur laisse continuer.";

    // When something is not as wished.
    look_again: "Look again", "Regarder à nouveau";
    nothing_changed: "Nothing was changed.", "Rien n'a été changé.";
    it_changed: "It is not what you saw any more.", "Ce n'est plus ce que vous avez vu.";
    not_possible: "That is not possible", "Ce n'est pas possible";
    not_found: "There is nothing here, or not for you.", "Il n'y a rien ici, ou pas pour vous.";
    what_you_wrote: "What you wrote", "Ce que vous avez écrit";
    what_you_wrote_hint: "It is kept nowhere but here: copy it before you go on.", "Ce n'est gardé nulle part ailleurs : copiez-le avant de continuer.";
    form_is_old: "This form is from another sign-in. Go back and reload.", "Ce formulaire vient d'une autre connexion. Revenez et rechargez.";

    // Help.
    keys: "Keys", "Touches";
    key_find: "find something", "chercher quelque chose";
    key_next: "next, previous", "suivant, précédent";
    key_open: "open", "ouvrir";
    key_approve: "go to approve, accept, have it done or run it again; again: do it", "aller à approuver, accepter, faire faire ou relancer ; encore : le faire";
    key_reject: "write why, and reject, send back or give up", "écrire pourquoi, et rejeter, renvoyer ou abandonner";
    key_amend: "change it and approve what you made of it: unfold the form", "la modifier et approuver le résultat : déplier le formulaire";
    key_order: "approve its like too: unfold the order", "approuver aussi ses semblables : déplier la consigne";
    key_identical: "go to the button that approves identical ones with it", "aller au bouton qui approuve aussi les identiques";
    key_assign: "who should look at it", "qui devrait y regarder";
    key_defer: "later: for how long to set it aside", "plus tard : combien de temps la mettre de côté";
    key_files: "to its files, one after the other", "à ses fichiers, l'un après l'autre";
    keys_rule: "Where somebody writes, and together with Ctrl, Alt or the like, keys are what they always are. But for the second A none decides anything by itself.", "Pendant la saisie, et avec Ctrl, Alt ou semblables, les touches restent ce qu'elles sont. Sauf le second A, aucune ne décide quoi que ce soit par elle-même.";
    key_help: "this page", "cette page";
    key_inbox: "to the inbox", "à la liste";
    how_it_works: "How it works", "Comment ça marche";
}

impl Lang {
    /// How many wait, in a heading.
    pub fn waiting(self, count: u64) -> String {
        match (self, count) {
            (Self::En, 1) => "1 waits".to_owned(),
            (Self::En, count) => format!("{} wait", self.number(count)),
            (Self::Fr, 0 | 1) => format!("{count} en attente"),
            (Self::Fr, count) => format!("{} en attente", self.number(count)),
        }
    }

    /// Identical ones that are approved together: all of them, or so many of them at once.
    pub fn approve_identical(self, some: u64, all: u64) -> String {
        let (some, is_all, all) = (self.number(some), some == all, self.number(all));
        match (self, is_all) {
            (Self::En, true) => format!("Approve all identical ({all})"),
            (Self::En, false) => format!("Approve {some} of {all} identical"),
            (Self::Fr, true) => format!("Approuver toutes les identiques ({all})"),
            (Self::Fr, false) => format!("Approuver {some} des {all} identiques"),
        }
    }

    /// After which steps a run stands still.
    pub fn every_steps(self, every: u32) -> String {
        match (self, every) {
            (Self::En, 1) => "after every step".to_owned(),
            (Self::En, every) => format!("after every {every} steps"),
            (Self::Fr, 1) => "après chaque étape".to_owned(),
            (Self::Fr, every) => format!("toutes les {every} étapes"),
        }
    }

    /// After these steps.
    pub fn after_steps(self, steps: &str) -> String {
        match self {
            Self::En => format!("after step {steps}"),
            Self::Fr => format!("après l'étape {steps}"),
        }
    }

    /// After so much work.
    pub fn every_span(self, millis: u64) -> String {
        match self {
            Self::En => format!("after every {} at work", self.span(millis)),
            Self::Fr => format!("après chaque {} de travail", self.span(millis)),
        }
    }

    /// Step n of m.
    pub fn step_of(self, step: u32, of: u32) -> String {
        match self {
            Self::En => format!("step {step} of {of}"),
            Self::Fr => format!("étape {step} sur {of}"),
        }
    }

    /// A whole number as the language groups its digits.
    pub fn number(self, number: u64) -> String {
        let digits = number.to_string();
        let separator = match self {
            Self::En => ",",
            Self::Fr => "\u{202F}",
        };
        let head = digits.len() % 3;
        let (first, rest) = digits.split_at(head);
        let groups = rest.as_bytes().chunks(3).filter_map(|chunk| std::str::from_utf8(chunk).ok());
        let all: Vec<&str> = Some(first).filter(|first| !first.is_empty()).into_iter().chain(groups).collect();
        all.join(separator)
    }

    /// Hundredths as a decimal number.
    pub fn decimal(self, value: f64) -> String {
        match self {
            Self::En => format!("{value:.2}"),
            Self::Fr => format!("{value:.2}").replace('.', ","),
        }
    }

    /// A moment that has passed.
    pub fn ago(self, millis: u64) -> String {
        match self {
            Self::En if millis < 1_000 => "just now".to_owned(),
            Self::Fr if millis < 1_000 => "à l'instant".to_owned(),
            Self::En => format!("{} ago", self.span(millis)),
            Self::Fr => format!("il y a {}", self.span(millis)),
        }
    }

    /// A moment that comes.
    pub fn within(self, millis: u64) -> String {
        match self {
            Self::En if millis < 1_000 => "in a moment".to_owned(),
            Self::Fr if millis < 1_000 => "dans un instant".to_owned(),
            Self::En => format!("in {}", self.span(millis)),
            Self::Fr => format!("dans {}", self.span(millis)),
        }
    }

    /// How long something takes or took, in its two largest units.
    pub fn span(self, millis: u64) -> String {
        let day = match self {
            Self::En => "d",
            Self::Fr => "j",
        };
        match millis {
            0..1_000 => format!("{millis} ms"),
            1_000..60_000 => format!("{} s", millis / 1_000),
            60_000..3_600_000 => two(millis / 60_000, "min", millis % 60_000 / 1_000, "s"),
            3_600_000..86_400_000 => two(millis / 3_600_000, "h", millis % 3_600_000 / 60_000, "min"),
            _ => two(millis / 86_400_000, day, millis % 86_400_000 / 3_600_000, "h"),
        }
    }
}

fn two(large: u64, unit: &str, small: u64, part: &str) -> String {
    if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {part}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_a_browser_gets_the_first_language_it_asks_for_that_there_is() {
        for (header, lang) in [
            ("fr-CH, fr;q=0.9, en;q=0.8", Lang::Fr),
            ("de, en-GB;q=0.7, fr;q=0.5", Lang::En),
            ("de", Lang::En),
            ("", Lang::En),
            ("FR", Lang::Fr),
        ] {
            assert_eq!(Lang::accepted(header), lang, "{header}");
        }
    }

    #[test]
    fn numbers_and_spans_are_written_as_the_language_does() {
        assert_eq!(Lang::En.number(1_234_567), "1,234,567");
        assert_eq!(Lang::Fr.number(1_234), "1\u{202F}234");
        assert_eq!(Lang::En.number(12), "12");
        assert_eq!(Lang::Fr.decimal(0.35), "0,35");
        assert_eq!(Lang::En.span(95_000), "1 min 35 s");
        assert_eq!(Lang::Fr.span(26 * 3_600_000), "1 j 2 h");
        assert_eq!(Lang::En.span(7), "7 ms");
        assert_eq!((Lang::En.ago(0), Lang::Fr.ago(999)), ("just now".to_owned(), "à l'instant".to_owned()));
        assert_eq!((Lang::En.ago(1_000), Lang::En.within(4)), ("1 s ago".to_owned(), "in a moment".to_owned()));
    }

    #[test]
    fn c16_every_word_is_said_in_every_language_and_none_is_empty() {
        for (name, en, fr) in WORDS {
            assert!(!en.trim().is_empty() && !fr.trim().is_empty(), "{name}");
            assert_eq!(en.ends_with(':'), fr.ends_with(':'), "{name}: both or neither lead to what follows");
        }
    }
}
